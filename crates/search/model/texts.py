"""The 500 texts that the quantised model is measured on, from templates and words written for it and a fixed seed."""

import random

COUNT = 500

NOUNS = """token cache session webhook migration index parser retry timeout lock queue cursor schema policy trail
ledger bucket worker socket certificate scheduler snapshot replica shard checksum tenant quota""".split()
VERBS = "drops leaks repeats forgets delays corrupts rejects truncates duplicates reorders ignores overwrites".split()
PLACES = ["after a restart", "under load", "on Windows", "when the disk is full", "in the nightly build", "behind a proxy",
          "with two nodes", "during shutdown", "on the first request", "once the clock jumps", "in debug builds only"]
REASONS = ["nobody holds the lock", "the error is swallowed", "the header is missing", "the buffer is reused too early",
           "both sides wait for each other", "the default changed in version 3", "the index was never built",
           "the test only covers the happy path", "the unit is seconds here and milliseconds there"]
PEOPLE = ["Maria", "Tomasz", "Ngozi", "the on-call engineer", "a customer in Lisbon", "our newest colleague", "Hiroshi"]

OBSERVATIONS = [
    "The {noun} {verb} entries {place} because {reason}.",
    "Decided: the {noun} is rebuilt from rows {place}; a broken {noun2} costs nothing then.",
    "{person} prefers small commits and wants the {noun} explained before the {noun2} is touched.",
    "Bug: {noun} {verb} the last {number} records {place}. Cause: {reason}. Fixed by checking the {noun2} first.",
    "Never call the {noun} from inside the {noun2}: {reason}.",
    "{person} asked why the {noun} takes {number} ms {place}.",
    "TODO {number}: measure the {noun} {place}, then decide about the {noun2}",
    "how do I stop the {noun} when it {verb} messages {place}",
    "where is the {noun} limit configured?",
    "We moved the {noun} out of the {noun2} since {reason}; rollback takes {number} minutes.",
]
CODE = [
    "fn {noun}_{noun2}(&self, limit: usize) -> Result<Vec<{Noun}>, Error> {{",
    "pub struct {Noun}{Noun2} {{ id: u64, {noun}: Option<String>, created_at: i64 }}",
    "def load_{noun}(path: str, *, retries: int = {number}) -> dict[str, {Noun}]:",
    "const {noun}{Noun2} = await fetch(`/api/{noun}s/${{id}}?limit={number}`);",
    "SELECT id, {noun} FROM {noun2}s WHERE org = $1 AND created < {number} ORDER BY id DESC;",
    "if (err != nil) {{ return fmt.Errorf(\"{noun}: %w\", err) }} // {reason}",
    "assert_eq!({noun}.len(), {number}, \"the {noun2} {verb} rows\");",
    "git rebase --onto main {noun}-{noun2} && cargo test -p {noun} -- --nocapture",
    "ERROR {noun}::{noun2}: connection reset by peer (os error {number}) at src/{noun}.rs:{number}:17",
    "@app.route('/{noun}/<int:{noun2}_id>', methods=['POST'])",
    "{{\"{noun}\": {{\"enabled\": true, \"{noun2}\": [{number}, null, -1.5e3]}}}}",
]
PROSE = [
    "The old lighthouse keeper counted {number} ships before the fog took the harbour away.",
    "Bread needs time more than it needs kneading, {person} said, and put the dough back on the shelf.",
    "It rained for {number} days, and on the last of them the river reached the third step of the town hall.",
    "A good map leaves things out; a great one makes you forget that it did.",
    "{person} learned to sail at fifty and to swim at fifty-one, in that order.",
    "The orchestra tuned for so long that some of the audience took it for the first movement.",
    "Volcanic soil, cold nights and patience: that is all there is to the wine of the island.",
    "Two trains leave the same station {number} minutes apart, and only one of them has a dining car.",
]
SCRIPTS = [
    "Die Sitzung läuft nach {number} Minuten ab, außer der Schlüssel wird vorher erneuert.",
    "Le cache oublie ses entrées dès que l'horloge recule de {number} secondes.",
    "La migración falló porque la tabla ya existía; ¿quién la creó?",
    "Сервер перезапускается каждые {number} минут, и никто не знает почему.",
    "データベースの接続が{number}秒後に切断されます。原因を調べてください。",
    "搜索索引需要重新建立，因为昨天的迁移删除了{number}行。",
    "서버가 재시작된 후 {number}개의 세션이 사라졌습니다.",
    "فشل الاتصال بالخادم بعد {number} محاولات متتالية.",
    "החיפוש מחזיר {number} תוצאות במקום אחת.",
    "सर्वर {number} मिनट बाद बंद हो जाता है।",
    "Ο δείκτης ξαναχτίζεται κάθε {number} λεπτά.",
    "ดัชนีถูกสร้างใหม่ทุก {number} นาที",
    "Ağ bağlantısı {number} kez koptu; günlükte İstanbul düğümü görünüyor.",
    "Tiếng Việt có nhiều dấu: chỉ mục được xây lại sau {number} phút.",
]
ODD = [
    "🚀 deploy done, {number} errors 😬", "👩‍💻 fixes {noun} 🔧🔧", "✅ {noun} ❌ {noun2}", "🇩🇪🇫🇷🇯🇵", "¯\\_(ツ)_/¯ {noun}",
    "{noun}", "{Noun}{Noun2}", "{noun}_{noun2}_{number}", "{number}", "{noun}?", "???", "  \t {noun}\n\n{noun2}  ",
    "e\u0301cole de\u0301ja\u0300 vu {noun}", "zero\u200bwidth {noun} \u202eright to left\u202c", "\u0000control\u0007 {noun}",
    "https://example.org/{noun}/{number}?q={noun2}#top", "{person}@example.org", "0x{number:x} {number:b} 1e-{number}", "",
    "α ≤ β ⇒ ∑ {noun}ᵢ ≥ ∞", "“{noun}” — ‘{noun2}’ … {number} €", "ＦＵＬＬ　ＷＩＤＴＨ {noun}", "ﬁ ligature ﬂow {noun}", "Ǆ ß ẞ İ ı ſ {noun}",
]


def fill(template: str, dice: random.Random) -> str:
    noun, noun2 = dice.sample(NOUNS, 2)
    return template.format(noun=noun, noun2=noun2, Noun=noun.title(), Noun2=noun2.title(), verb=dice.choice(VERBS),
                           place=dice.choice(PLACES), reason=dice.choice(REASONS), person=dice.choice(PEOPLE),
                           number=dice.randint(2, 9000))


def texts() -> list[str]:
    dice = random.Random(20_261_116)
    kinds = [OBSERVATIONS] * 5 + [CODE] * 4 + [PROSE] * 2 + [SCRIPTS] * 3 + [ODD] * 3
    made = []
    for number in range(COUNT):
        kind = kinds[number % len(kinds)]
        text = fill(kind[number // len(kinds) % len(kind)], dice)
        if number % 25 == 7:  # paragraphs
            text = " ".join([text] + [fill(dice.choice(OBSERVATIONS + PROSE), dice) for _ in range(dice.randint(3, 8))])
        if number % 50 == 13:  # whole files, beyond what the model reads
            text = "\n".join([text] + [fill(dice.choice(CODE + OBSERVATIONS), dice) for _ in range(40)])
        while text in made:  # some templates have nothing to fill in
            text = f"{text} {fill(dice.choice(OBSERVATIONS), dice)}"
        made.append(text)
    return made
