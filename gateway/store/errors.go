package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	driver "github.com/glebarez/go-sqlite"

	"fairlead/gateway/protocol"
)

// Result codes of SQLite (sqlite.org/rescode.html): primary codes for problems of the disk or the
// file, not of the query.
const (
	codePerm     = 3
	codeBusy     = 5
	codeLocked   = 6
	codeRead     = 8
	codeIO       = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

// Violated constraints: extended codes.
const (
	codeForeignKey = 787
	codePrimaryKey = 1555
	codeUnique     = 2067
)

// code returns the extended result code of SQLite in err, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code()
	}
	return 0
}

// explain adds the operation to an error, and converts failures of the disk to a
// protocol.ErrStorage that says how to fix them.
func (c *conn) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	sqlite := code(err)
	_, isPath := errors.AsType[*fs.PathError](err)
	switch sqlite {
	case codeForeignKey:
		return fmt.Errorf("%s: %w", doing, protocol.ErrNotFound.With("its chat does not exist"))
	case codePrimaryKey, codeUnique:
		return fmt.Errorf("%s: %w", doing, protocol.ErrConflict.With("it already exists"))
	}
	text := ""
	switch sqlite & 0xff {
	case codeFull:
		text = c.fullText()
	case codeRead, codeCantOpen, codePerm:
		text = c.path + " cannot be written. Check the permissions of the folder."
	case codeBusy, codeLocked:
		text = "Another program has locked " + c.path + ". Close it and try again."
	case codeIO:
		text = "The disk that holds " + c.path + " reports an error (" + err.Error() + "). Check the disk and copy the data folder to another one."
	case codeCorrupt, codeNotADB:
		text = c.path + " is damaged or not a Fairlead database. Move it away to start again, or restore a backup. Nothing was deleted."
	default:
		if !isPath {
			return fmt.Errorf("%s: %w", doing, err)
		}
		text = fmt.Sprintf("%s cannot be opened (%v). Check the permissions of the folder.", c.path, err)
	}
	// A full disk has other error codes too, when SQLite cannot create a file beside the database.
	if sqlite&0xff != codeNotADB && sqlite&0xff != codeCorrupt && diskFull(filepath.Dir(c.path)) {
		text = c.fullText()
	}
	return fmt.Errorf("%s: %w", doing, protocol.ErrStorage.With(text).WithDetails(map[string]string{"cause": err.Error()}))
}

func (c *conn) fullText() string {
	return "The disk that holds " + c.path + " is full. Free up space. No saved messages were lost."
}

// diskFull reports whether no more data can be written to dir.
func diskFull(dir string) bool {
	f, err := os.CreateTemp(dir, ".space-*")
	if err == nil {
		_, err = f.Write(make([]byte, 64<<10))
		f.Close()
		os.Remove(f.Name())
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
