// Package store keeps everything that lasts: sessions, messages, runs, the calls' journal, questions, grants, settings, machines. It
// is SQLite through GORM; rows stay private and results are protocol types or the plain structs of this package. open.go is
// the only file that knows the driver.
//
// What a method has returned without error is on the disk (WAL with synchronous=FULL): it survives kill -9 and, as far as the disk
// tells the truth, a power cut. There is one connection that writes and a pool that reads, so readers never wait for a writer.
//
// Messages of a session that was reset stay where they are under their old session id; they are its archive.
package store
