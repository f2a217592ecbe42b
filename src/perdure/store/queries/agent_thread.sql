-- name: claim_agent_thread
-- A run of a graph begins: what earlier runs still write is refused from now on.
INSERT INTO agent_thread (tenant, thread, owner, run, attempt, used, changed_at)
VALUES (:tenant, :thread, :owner, 1, :attempt, :nothing, :now)
ON CONFLICT (tenant, thread) DO UPDATE SET run = agent_thread.run + 1, changed_at = excluded.changed_at
RETURNING run, attempt, used;

-- name: touch_agent_thread
-- A run writes: what its attempt has used so far. No row when another run has begun.
UPDATE agent_thread SET attempt = :attempt, used = :used, changed_at = :now
WHERE tenant = :tenant AND thread = :thread AND run = :run RETURNING run;

-- name: put_agent_checkpoint
-- The state of a graph, unless another run has begun.
INSERT INTO agent_checkpoint
  (tenant, thread, space, checkpoint, parent, kind, body, metadata_kind, metadata, checksum)
SELECT :tenant, :thread, :space, :checkpoint, :parent, :kind, :body, :metadata_kind, :metadata, :checksum
FROM agent_thread WHERE tenant = :tenant AND thread = :thread AND run = :run
ON CONFLICT (tenant, thread, space, checkpoint) DO UPDATE SET parent = excluded.parent, kind = excluded.kind,
  body = excluded.body, metadata_kind = excluded.metadata_kind, metadata = excluded.metadata,
  checksum = excluded.checksum
RETURNING checkpoint;

-- name: put_agent_write
-- What a task of a graph has written, unless another run has begun. A result that is there stays; a mark is replaced.
INSERT INTO agent_write (tenant, thread, space, checkpoint, task, place, path, channel, kind, body, checksum)
SELECT :tenant, :thread, :space, :checkpoint, :task, :place, :path, :channel, :kind, :body, :checksum
FROM agent_thread WHERE tenant = :tenant AND thread = :thread AND run = :run
ON CONFLICT (tenant, thread, space, checkpoint, task, place) DO UPDATE SET path = excluded.path,
  channel = excluded.channel, kind = excluded.kind, body = excluded.body, checksum = excluded.checksum
WHERE agent_write.place < 0
RETURNING place;

-- name: prune_agent_checkpoints
-- Older states of a graph than its newest, unless another run has begun.
DELETE FROM agent_checkpoint WHERE tenant = :tenant AND thread = :thread AND space = :space AND checkpoint < :checkpoint
AND EXISTS (SELECT 1 FROM agent_thread AS held WHERE held.tenant = :tenant AND held.thread = :thread AND held.run = :run)
RETURNING checkpoint;

-- name: prune_agent_writes
-- What tasks wrote before the newest state of a graph, unless another run has begun.
DELETE FROM agent_write WHERE tenant = :tenant AND thread = :thread AND space = :space AND checkpoint < :checkpoint
AND EXISTS (SELECT 1 FROM agent_thread AS held WHERE held.tenant = :tenant AND held.thread = :thread AND held.run = :run)
RETURNING checkpoint;

-- name: newest_agent_checkpoint
-- The newest state of a graph.
SELECT checkpoint, parent, kind, body, metadata_kind, metadata, checksum FROM agent_checkpoint
WHERE tenant = :tenant AND thread = :thread AND space = :space ORDER BY checkpoint DESC LIMIT 1;

-- name: read_agent_checkpoint
-- One state of a graph.
SELECT checkpoint, parent, kind, body, metadata_kind, metadata, checksum FROM agent_checkpoint
WHERE tenant = :tenant AND thread = :thread AND space = :space AND checkpoint = :checkpoint;

-- name: list_agent_checkpoints
-- The states of a graph before one of them, newest first.
SELECT checkpoint, parent, kind, body, metadata_kind, metadata, checksum FROM agent_checkpoint
WHERE tenant = :tenant AND thread = :thread AND space = :space AND checkpoint < :before
ORDER BY checkpoint DESC LIMIT :most;

-- name: read_agent_writes
-- What tasks of a state have written.
SELECT task, place, path, channel, kind, body, checksum FROM agent_write
WHERE tenant = :tenant AND thread = :thread AND space = :space AND checkpoint = :checkpoint ORDER BY task, place;

-- name: size_of_agent_thread
-- How many bytes a thread holds.
SELECT (SELECT coalesce(sum(length(body) + length(metadata)), 0) FROM agent_checkpoint
        WHERE tenant = :tenant AND thread = :thread)
     + (SELECT coalesce(sum(length(body)), 0) FROM agent_write WHERE tenant = :tenant AND thread = :thread);

-- name: forget_agent_checkpoints
-- The states of a thread leave: its graph begins anew.
DELETE FROM agent_checkpoint WHERE tenant = :tenant AND thread = :thread RETURNING checkpoint;

-- name: forget_agent_writes
-- What tasks of a thread wrote leaves.
DELETE FROM agent_write WHERE tenant = :tenant AND thread = :thread RETURNING place;

-- name: erase_agent_checkpoints
-- The states of graphs of an erased call or instance.
DELETE FROM agent_checkpoint WHERE tenant = :tenant AND thread IN (
  SELECT thread FROM agent_thread WHERE tenant = :tenant AND owner = :letters
);

-- name: erase_agent_writes
-- What tasks of graphs of an erased call or instance wrote.
DELETE FROM agent_write WHERE tenant = :tenant AND thread IN (
  SELECT thread FROM agent_thread WHERE tenant = :tenant AND owner = :letters
);

-- name: erase_agent_threads
-- The threads of an erased call or instance, after what they hold.
DELETE FROM agent_thread WHERE tenant = :tenant AND owner = :letters;

-- name: agent_threads_left
-- Whether anything is left of the graphs of a call or an instance.
SELECT 1 FROM agent_thread WHERE tenant = :tenant AND owner = :letters LIMIT 1;
