// Package store persists the gateway's state in SQLite through GORM: sessions, messages, runs, the
// journal of calls, approvals, grants, settings, nodes. Rows are private; methods return protocol
// types or the plain structs of this package. Only open.go knows the driver.
//
// Data is on the disk when a method returns without an error (WAL with synchronous=FULL): it
// survives kill -9 and, if the disk flushes as it reports, a power failure. Exceptions are
// documented. One connection writes and a pool of connections reads, so readers never wait for a
// writer.
//
// After a reset, the messages of a session remain under the old session ID; they are its archive.
package store
