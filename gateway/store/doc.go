// Package store persists the gateway's state in SQLite through GORM. [DB] opens the database; each
// family of tables is a field of it: sessions, messages, runs, approvals, transfers and so on. Methods
// return protocol types or the plain structs of this package, whose tags map them to the columns
// that schema.sql describes. Only conn.go and errors.go know the driver.
//
// Data is on the disk when a method returns without an error (WAL with synchronous=FULL): it
// survives kill -9 and, if the disk flushes as it reports, a power failure. Exceptions are
// documented. One connection writes and a pool of connections reads, so readers never wait for a
// writer.
//
// After a reset, the messages of a session remain under the old session ID; they are its archive.
package store
