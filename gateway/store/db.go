// Package store persists the gateway's state in SQLite through GORM. [DB] opens the database; each
// family of tables is a field of it: sessions, messages, runs, questions, transfers and so on.
// Methods return protocol types or the plain structs of this package, whose tags map them to the
// columns that schema.sql describes. Only conn.go knows the driver.
//
// Data is on the disk when a method returns without an error (WAL with synchronous=FULL): it
// survives kill -9 and, if the disk flushes as it reports, a power failure. Exceptions are
// documented. One connection writes and a pool of connections reads, so readers never wait for a
// writer.
//
// After a reset, the messages of a session remain under the old session ID; they are its archive.
package store

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// DB is an open database with its families of tables. It is safe for concurrent use. Every method
// may block on the disk.
type DB struct {
	Sessions   *Sessions
	Messages   *Messages
	Archives   *Archives
	Media      *Media
	Runs       *Runs
	Search     *Search
	Questions  *Questions
	Grants     *Grants
	Rules      *Rules
	Audit      *Audit
	Transfers  *Transfers
	Jobs       *Jobs
	Heartbeats *Heartbeats
	Channels   *Channels
	Outbox     *Outbox
	Devices    *Devices
	Services   *Services
	Tasks      *Tasks
	Apps       *Apps
	Servers    *Servers
	Nodes      *Nodes
	Networks   *Networks
	Settings   *Settings
	Calls      *Calls
	Usage      *Usage
	Uses       *Uses

	*conn
}

// Open opens the database file at path, and creates it if it is missing, readable by its owner
// only. A file that is not a database, or of another version, is not changed and returns an error.
func Open(ctx context.Context, path string) (*DB, error) {
	db := &DB{conn: &conn{path: path}}
	if err := db.open(ctx); err != nil {
		db.Close()
		return nil, db.explain("open store", err)
	}
	return db, nil
}

func (db *DB) open(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(db.path), 0o700); err != nil {
		return err
	}
	// SQLite gives its -wal and -shm files the same mode
	f, err := os.OpenFile(db.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	w, err := connect(db.path, 1, "immediate")
	db.writer = newWriter(w)
	if err != nil {
		return err
	}
	if err := createSchema(ctx, w, db.path); err != nil {
		return err
	}
	if db.reader, err = connect(db.path, max(2, runtime.NumCPU()), "deferred", "query_only(1)"); err != nil {
		return err
	}
	db.openFamilies()
	var size int64
	if err := w.Raw("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").Scan(&size).Error; err != nil {
		return err
	}
	if size > largeStore {
		db.Search.SetTimeLimit(searchTimeLimit)
	}
	return nil
}

func (db *DB) openFamilies() {
	db.Sessions = &Sessions{conn: db.conn}
	db.Search = &Search{conn: db.conn, timeCheckEvery: timeCheckEvery, sinceTimeCheck: rand.IntN(timeCheckEvery)}
	db.Messages = &Messages{conn: db.conn, sessions: db.Sessions, search: db.Search}
	db.Archives = &Archives{db.conn, db.Messages}
	db.Media = &Media{db.conn}
	db.Runs = &Runs{db.conn, db.Messages}
	db.Questions = &Questions{db.conn}
	db.Grants = &Grants{db.conn}
	db.Rules = &Rules{db.conn}
	db.Audit = &Audit{db.conn}
	db.Transfers = &Transfers{db.conn}
	db.Jobs = &Jobs{db.conn}
	db.Heartbeats = &Heartbeats{db.conn}
	db.Channels = &Channels{db.conn}
	db.Outbox = &Outbox{db.conn}
	db.Devices = &Devices{db.conn}
	db.Services = &Services{db.conn}
	db.Tasks = &Tasks{db.conn}
	db.Apps = &Apps{db.conn}
	db.Servers = &Servers{db.conn}
	db.Calls = &Calls{db.conn}
	db.Nodes = &Nodes{db.conn, db.Calls}
	db.Networks = &Networks{db.conn}
	db.Settings = &Settings{db.conn}
	db.Usage = &Usage{db.conn}
	db.Uses = &Uses{db.conn}
}

// Close closes the database. All acknowledged data is on the disk already. It may be called twice.
func (db *DB) Close() error {
	var errs []error
	pools := []*gorm.DB{db.reader}
	if db.writer != nil {
		pools = append(pools, db.writer.db)
	}
	for _, p := range pools {
		if p == nil {
			continue
		}
		pool, err := p.DB()
		if err == nil {
			err = pool.Close()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// createTables creates the tables of an empty database, as of version firstVersion.
//
//go:embed schema.sql
var createTables string

//go:embed apps.sql
var createApps string

//go:embed servers.sql
var createServers string

//go:embed services.sql
var createServices string

// upgrades are the changes of the schema after firstVersion, one for each version.
var upgrades = []string{createApps, createServers, addAppOfCalls, addContinued, renameApprovals, listGrants, askAboutSenders, createServices, createUses, addPasskeys, addServiceUse, createNetworks, addTasks}

// addPasskeys adds the passkeys of visitors, each of one service.
const addPasskeys = `CREATE TABLE passkeys (
  id TEXT NOT NULL,                                -- hex ID of the credential
  service TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  visitor TEXT NOT NULL,                           -- hex user handle
  created_at INTEGER NOT NULL,                     -- Unix milliseconds
  json TEXT NOT NULL,                              -- store.Passkey
  PRIMARY KEY (service, id)
) STRICT, WITHOUT ROWID;`

// addAppOfCalls adds the connected app that made a call, or an empty text.
const addAppOfCalls = `ALTER TABLE calls ADD COLUMN app TEXT NOT NULL DEFAULT '';
CREATE INDEX calls_of_app ON calls (app, created_at) WHERE app <> '';`

// addContinued adds what passed after a call, a protocol.Continuation, and the call that allows a
// transfer.
const addContinued = `ALTER TABLE calls ADD COLUMN continued TEXT NOT NULL DEFAULT '{}';
ALTER TABLE transfers ADD COLUMN allowed TEXT NOT NULL DEFAULT '';`

// renameApprovals gives the table of all questions, which was once for those about calls, its name.
const renameApprovals = `ALTER TABLE approvals RENAME TO questions;
DROP INDEX approvals_pending;
CREATE INDEX questions_pending ON questions (created_at) WHERE state = 'pending';
ALTER TABLE grants RENAME COLUMN from_approval TO from_question;`

// listGrants makes the permission that the answer to a question can give a list: one question can be
// about several calls.
const listGrants = `UPDATE questions
SET json = json_set(json_remove(json, '$.grant'), '$.grants', json_array(json_extract(json, '$.grant')))
WHERE json_extract(json, '$.grant') IS NOT NULL;`

// askAboutSenders makes questions of the unknown senders of channels, each until a week after it was
// asked. Their hashes are set when the gateway asks again.
const askAboutSenders = `INSERT INTO questions (id, state, session_key, created_at, json)
  SELECT id, 'pending', '', requested_at, json_object('id', id, 'kind', 'sender', 'state', 'pending', 'createdAt', requested_at,
    'expiresAt', requested_at + 604800000, 'choices', json('[]'), 'askedBy', json_object('kind', 'channel', 'name', channel), 'sender', json(json))
  FROM (SELECT lower(hex(randomblob(16))) AS id, requested_at, channel, json FROM channel_pairs);
DROP TABLE channel_pairs;`

// addServiceUse adds how much a service is used, a store.ServiceUse.
const addServiceUse = `ALTER TABLE services ADD COLUMN use TEXT NOT NULL DEFAULT '{}';`

// firstVersion is the first version of the schema that is converted; versions 1 to 20 were those of
// development. The version is stored as PRAGMA user_version.
const firstVersion = 21

var schemaVersion = firstVersion + len(upgrades)

// createSchema creates the tables of a new database, and upgrades one of an older version. A
// database of another version is not changed and returns an error that says what to do.
func createSchema(ctx context.Context, db *gorm.DB, path string) error {
	return db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var version int
		if err := tx.Raw("PRAGMA user_version").Scan(&version).Error; err != nil {
			return err
		}
		switch {
		case version == schemaVersion:
			return nil
		case version > schemaVersion:
			return fmt.Errorf("%s was written by a newer version of Fairlead (format %d, this version reads %d): start the newer version", path, version, schemaVersion)
		case version >= firstVersion:
			return upgrade(tx, version)
		case version > 0:
			return fmt.Errorf("%s was written by a development version of Fairlead (format %d, this version reads %d) and cannot be converted: move the folder %s away and start again",
				path, version, schemaVersion, filepath.Dir(path))
		}
		if err := tx.Exec(createTables).Error; err != nil {
			return fmt.Errorf("create tables: %w", err)
		}
		return upgrade(tx, firstVersion)
	})
}

// upgrade applies the changes of the schema after a version.
func upgrade(tx *gorm.DB, version int) error {
	for _, change := range upgrades[version-firstVersion:] {
		if err := tx.Exec(change).Error; err != nil {
			return fmt.Errorf("upgrade tables: %w", err)
		}
	}
	return tx.Exec("PRAGMA user_version = " + strconv.Itoa(schemaVersion)).Error
}

// Settings are the settings that differ from their default.
type Settings struct{ *conn }

type settingRow struct {
	Key   string `gorm:"primaryKey"`
	Value string
}

// ownerKey is the key of the owner's ID, which is not a setting: nobody changes it.
const ownerKey = "ownerID"

// OwnerID returns the ID of the gateway's owner, a UUID that the first call makes. It does not
// depend on names, keys or tokens, because all of them can change.
func (s *Settings) OwnerID(ctx context.Context) (id string, err error) {
	find := func(db *gorm.DB) error {
		return db.Model(&settingRow{}).Where("key = ?", ownerKey).Pluck("value", &id).Error
	}
	if err := s.read(ctx, "read the owner's ID", find); err != nil || id != "" {
		return id, err
	}
	err = s.write(ctx, "store the owner's ID", func(tx *gorm.DB) error {
		if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&settingRow{ownerKey, protocol.NewID()}).Error; err != nil {
			return err
		}
		return find(tx)
	})
	return id, err
}

// All returns every setting that differs from its default.
func (s *Settings) All(ctx context.Context) (map[string]json.RawMessage, error) {
	var rows []settingRow
	if err := s.read(ctx, "read settings", func(db *gorm.DB) error { return db.Where("key <> ?", ownerKey).Find(&rows).Error }); err != nil {
		return nil, err
	}
	all := make(map[string]json.RawMessage, len(rows))
	for _, r := range rows {
		all[r.Key] = json.RawMessage(r.Value)
	}
	return all, nil
}

// Put stores settings, all of them or none; nil removes one.
func (s *Settings) Put(ctx context.Context, values map[string]json.RawMessage) error {
	return s.write(ctx, "store settings", func(tx *gorm.DB) error {
		for key, value := range values {
			var err error
			if value == nil {
				err = tx.Where("key = ?", key).Delete(&settingRow{}).Error
			} else {
				err = upsert(tx, &settingRow{key, string(value)})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
