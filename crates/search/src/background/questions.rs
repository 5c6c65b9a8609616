//! Questions go first: background work pauses while someone waits for an answer.

use std::cell::Cell;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long after an answer background work stays paused. An agent's next question often follows at once, and caches stay warm.
const QUIET: Duration = Duration::from_millis(2);
/// How long one of many pieces of background work waits at most, so that constant questions slow it down but never stop it.
const PATIENCE: Duration = Duration::from_millis(50);
/// The same for one of a few pieces. Whoever stored a text may look for it at once.
const PATIENCE_OF_FEW: Duration = Duration::from_millis(5);
/// Up to this many pieces are few.
const FEW: usize = 4;

/// The questions that are being answered.
#[derive(Default)]
pub struct Questions {
    asked: Mutex<Asked>,
    answered: Condvar,
}

#[derive(Default)]
struct Asked {
    open: usize,
    last_answer: Option<Instant>,
}

/// A question. Background work may go on when it is dropped.
pub struct Question(Arc<Questions>);

impl Questions {
    /// Announces a question.
    #[must_use]
    pub fn ask(self: &Arc<Self>) -> Question {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).open += 1;
        Question(Arc::clone(self))
    }

    /// Waits until nobody has asked for a moment, or until `deadline`.
    fn wait(&self, deadline: Instant) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let now = Instant::now();
            let until = match asked.last_answer.map(|answered| answered + QUIET) {
                _ if asked.open > 0 => deadline,
                Some(quiet) => quiet.min(deadline),
                None => return,
            };
            let Some(rest) = until.checked_duration_since(now).filter(|rest| !rest.is_zero()) else { return };
            asked = self.answered.wait_timeout(asked, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        let mut asked = self.0.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.open = asked.open.saturating_sub(1);
        asked.last_answer = Some(Instant::now());
        self.0.answered.notify_all();
    }
}

/// One piece of background work. Call [`Piece::give_way`] as often as possible.
pub(super) struct Piece {
    questions: Arc<Questions>,
    patience: Duration,
    deadline: Cell<Option<Instant>>,
}

impl Piece {
    /// One of `many` pieces.
    pub(super) fn new(questions: &Arc<Questions>, many: usize) -> Self {
        let patience = if many <= FEW { PATIENCE_OF_FEW } else { PATIENCE };
        Self { questions: Arc::clone(questions), patience, deadline: Cell::new(None) }
    }

    /// Waits while there are questions, but not longer than the piece may wait in all.
    pub(super) fn give_way(&self) {
        let deadline = self.deadline.get().unwrap_or_else(|| Instant::now() + self.patience);
        self.deadline.set(Some(deadline));
        self.questions.wait(deadline);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn work_goes_on_when_the_question_is_answered() {
        let questions = Arc::new(Questions::default());
        let far = Instant::now() + Duration::from_secs(3_600);
        questions.wait(far);
        let (one, two) = (questions.ask(), questions.ask());
        drop(one);
        let (done, is_done) = mpsc::channel();
        let waiting = Arc::clone(&questions);
        let work = std::thread::spawn(move || {
            waiting.wait(far);
            done.send(()).unwrap();
        });
        assert!(is_done.try_recv().is_err(), "a question is open");
        drop(two);
        work.join().unwrap();
        assert!(is_done.try_recv().is_ok());
    }

    #[test]
    fn work_that_waited_long_enough_goes_on() {
        let questions = Arc::new(Questions::default());
        let _open = questions.ask();
        let piece = Piece::new(&questions, 1);
        piece.deadline.set(Some(Instant::now()));
        piece.give_way();
    }
}
