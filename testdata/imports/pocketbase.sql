-- The database of a PocketBase 0.30 project, as far as its accounts are concerned.
CREATE TABLE `_collections` (`id` TEXT PRIMARY KEY DEFAULT ('r'||lower(hex(randomblob(7)))) NOT NULL, `system` BOOLEAN DEFAULT FALSE NOT NULL, `type` TEXT DEFAULT "base" NOT NULL, `name` TEXT UNIQUE NOT NULL, `fields` JSON DEFAULT "[]" NOT NULL, `indexes` JSON DEFAULT "[]" NOT NULL, `listRule` TEXT DEFAULT NULL, `options` JSON DEFAULT "{}" NOT NULL, `created` TEXT DEFAULT "" NOT NULL, `updated` TEXT DEFAULT "" NOT NULL);
CREATE TABLE `_externalAuths` (`collectionRef` TEXT DEFAULT '' NOT NULL, `created` TEXT DEFAULT '' NOT NULL, `id` TEXT PRIMARY KEY NOT NULL, `provider` TEXT DEFAULT '' NOT NULL, `providerId` TEXT DEFAULT '' NOT NULL, `recordRef` TEXT DEFAULT '' NOT NULL, `updated` TEXT DEFAULT '' NOT NULL);
CREATE TABLE `users` (`avatar` TEXT DEFAULT '' NOT NULL, `created` TEXT DEFAULT '' NOT NULL, `email` TEXT DEFAULT '' NOT NULL, `emailVisibility` BOOLEAN DEFAULT FALSE NOT NULL, `id` TEXT PRIMARY KEY NOT NULL, `name` TEXT DEFAULT '' NOT NULL, `password` TEXT DEFAULT '' NOT NULL, `tokenKey` TEXT DEFAULT '' NOT NULL, `updated` TEXT DEFAULT '' NOT NULL, `verified` BOOLEAN DEFAULT FALSE NOT NULL, `newsletter` BOOLEAN DEFAULT FALSE NOT NULL, `age` NUMERIC DEFAULT 0 NOT NULL, `preferences` JSON DEFAULT NULL);
CREATE TABLE `staff` (`created` TEXT DEFAULT '' NOT NULL, `email` TEXT DEFAULT '' NOT NULL, `id` TEXT PRIMARY KEY NOT NULL, `password` TEXT DEFAULT '' NOT NULL, `tokenKey` TEXT DEFAULT '' NOT NULL, `updated` TEXT DEFAULT '' NOT NULL, `verified` BOOLEAN DEFAULT FALSE NOT NULL);
INSERT INTO _collections (id, type, name, fields) VALUES
  ('_pb_users_auth_', 'auth', 'users', '[{"name":"id","type":"text"},{"name":"email","type":"email"},{"name":"name","type":"text"},{"name":"newsletter","type":"bool"},{"name":"age","type":"number"},{"name":"preferences","type":"json"}]'),
  ('pbc_2384756101', 'auth', 'staff', '[{"name":"id","type":"text"}]'),
  ('pbc_3142635823', 'auth', '_superusers', '[]'),
  ('pbc_1687431684', 'base', 'posts', '[]');
INSERT INTO users (id, email, name, password, tokenKey, verified, created, updated, newsletter, age, preferences) VALUES
  ('ada0000000000a1', 'Ada@example.com', 'Ada', '$2a$10$qpN89lxA7hU71KlCq35QCe5LrD7jAn7BQJjQL/a.4GW2uBCiA/U0q', 'secret-token-key', TRUE, '2024-05-01 10:00:00.123Z', '2024-05-02 10:00:00.123Z', TRUE, 36, '{"theme":"dark"}'),
  ('bob0000000000b2', 'bob@example.com', '', '$2a$10$qpN89lxA7hU71KlCq35QCe5LrD7jAn7BQJjQL/a.4GW2uBCiA/U0q', 'secret-token-key', FALSE, '2024-05-01 10:00:00.123Z', '2024-05-01 10:00:00.123Z', FALSE, 0, NULL),
  ('github000000003', '', 'Only GitHub', '$2a$10$qpN89lxA7hU71KlCq35QCe5LrD7jAn7BQJjQL/a.4GW2uBCiA/U0q', 'secret-token-key', FALSE, '2024-05-01 10:00:00.123Z', '2024-05-02 11:00:00.123Z', FALSE, 0, NULL),
  ('twice0000000004', 'ADA@example.com', '', '$2a$10$qpN89lxA7hU71KlCq35QCe5LrD7jAn7BQJjQL/a.4GW2uBCiA/U0q', 'secret-token-key', FALSE, '2024-05-01 10:00:00.123Z', '2024-05-01 10:00:00.123Z', FALSE, 0, NULL),
  ('nobody000000005', '', '', '', 'secret-token-key', FALSE, '2024-05-01 10:00:00.123Z', '2024-05-01 10:00:00.123Z', FALSE, 0, NULL);
INSERT INTO staff (id, email, password, verified, created) VALUES
  ('staff0000000001', 'boss@example.com', '$2a$10$qpN89lxA7hU71KlCq35QCe5LrD7jAn7BQJjQL/a.4GW2uBCiA/U0q', TRUE, '2024-05-01 10:00:00.123Z');
INSERT INTO _externalAuths (id, collectionRef, recordRef, provider, providerId) VALUES
  ('ext000000000001', '_pb_users_auth_', 'ada0000000000a1', 'google', '108000000000000000001'),
  ('ext000000000002', '_pb_users_auth_', 'ada0000000000a1', 'microsoft', 'aad-1'),
  ('ext000000000003', '_pb_users_auth_', 'github000000003', 'github', '4242'),
  ('ext000000000004', 'pbc_2384756101', 'ada0000000000a1', 'discord', 'not-hers');
