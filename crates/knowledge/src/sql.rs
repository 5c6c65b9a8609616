//! The change counter, and the vectors of numbered texts.

pub(crate) const TAKE_CHANGES: &str = "INSERT INTO knowledge_changes (org_id, project_id, number) VALUES (?1, ?2, ?3)
     ON CONFLICT (org_id, project_id) DO UPDATE SET number = knowledge_changes.number + excluded.number RETURNING number";

pub(crate) const LAST_CHANGE: &str = "SELECT number FROM knowledge_changes WHERE org_id = ?1 AND project_id = ?2";

/// Vectors of other models are left out, because they cannot be compared.
pub(crate) const VECTORS_SINCE: &str = "SELECT number, change, vector FROM vectors
     WHERE org_id = ?1 AND project_id = ?2 AND kind = ?3 AND change > ?4 AND model = ?5 ORDER BY change LIMIT ?6";

pub(crate) const UPSERT_VECTOR: &str = "INSERT INTO vectors (org_id, project_id, number, kind, change, model, dimension, vector)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (org_id, project_id, number) DO UPDATE
     SET change = excluded.change, model = excluded.model, dimension = excluded.dimension, vector = excluded.vector";

pub(crate) const DELETE_VECTOR: &str = "DELETE FROM vectors WHERE org_id = ?1 AND project_id = ?2 AND number = ?3";

pub(crate) const ENQUEUE: &str = "INSERT INTO unembedded (org_id, project_id, number, kind, turn) VALUES (?1, ?2, ?3, ?4, ?5)
     ON CONFLICT (org_id, project_id, number) DO UPDATE SET turn = excluded.turn";

pub(crate) const DEQUEUE: &str = "DELETE FROM unembedded WHERE org_id = ?1 AND project_id = ?2 AND number = ?3";

/// Takes a text out of the queue, unless it changed after it was read.
pub(crate) const TAKE_EMBEDDED: &str =
    "DELETE FROM unembedded WHERE org_id = ?1 AND project_id = ?2 AND number = ?3 AND turn = ?4";

/// Newest first, because new texts are needed first. A forgotten observation has no text.
pub(crate) const UNEMBEDDED: &str = "SELECT waiting.number, waiting.kind, waiting.turn,
       COALESCE(observations.content, triplets.text, entities.text, '') AS text FROM unembedded waiting
     LEFT JOIN observations ON observations.org_id = waiting.org_id AND observations.project_id = waiting.project_id
       AND observations.number = waiting.number
     LEFT JOIN triplets ON triplets.org_id = waiting.org_id AND triplets.project_id = waiting.project_id
       AND triplets.number = waiting.number
     LEFT JOIN entities ON entities.org_id = waiting.org_id AND entities.project_id = waiting.project_id
       AND entities.number = waiting.number
     WHERE waiting.org_id = ?1 AND waiting.project_id = ?2 ORDER BY waiting.number DESC LIMIT ?3";

pub(crate) const UNEMBEDDED_COUNT: &str =
    "SELECT CAST(count(*) AS BIGINT) AS count FROM unembedded WHERE org_id = ?1 AND project_id = ?2 AND kind = ?3";

pub(crate) const UNEMBEDDED_OF_ALL_KINDS: &str =
    "SELECT CAST(count(*) AS BIGINT) AS count FROM unembedded WHERE org_id = ?1 AND project_id = ?2";

pub(crate) const PROJECTS_UNEMBEDDED: &str = "SELECT DISTINCT project_id FROM unembedded WHERE org_id = ?1";

/// Queues the texts that another model embedded.
pub(crate) const ENQUEUE_OTHER_MODELS: &str = "INSERT INTO unembedded (org_id, project_id, number, kind)
     SELECT org_id, project_id, number, kind FROM vectors WHERE org_id = ?1 AND model <> ?2 ON CONFLICT DO NOTHING";

pub(crate) const ANY_OTHER_MODEL: &str = "SELECT 1 FROM vectors WHERE org_id = ?1 AND (model < ?2 OR model > ?2) LIMIT 1";
