package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"gorm.io/gorm"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Progress reports how far the migration of an older store is.
type Progress struct {
	Step, Steps int // from 1
	// Percent is the completed part of the step, or -1 if unknown.
	Percent int
}

// String returns a text such as "step 2 of 3, about 40 %".
func (p Progress) String() string {
	s := fmt.Sprintf("step %d of %d", p.Step, p.Steps)
	if p.Percent >= 0 {
		s += fmt.Sprintf(", about %d %%", p.Percent)
	}
	return s
}

// update migrates a database to the current format.
type update struct {
	db    *gorm.DB
	from  fs.FS
	files []string // the migrations, by number
	parts map[int]parts
	// tell receives the progress; it may be nil, and is not called for a new database.
	tell  func(Progress)
	found int // the format before the update
}

// migrate runs the numbered migrations that the database lacks, each in its own transaction, long
// ones in several. PRAGMA user_version holds the number of the last one; it is read inside the
// transaction, so that two programs that start together do not both run one. A released migration
// is never edited.
func migrate(ctx context.Context, db *gorm.DB, from fs.FS, tell func(Progress)) error {
	files, err := fs.Glob(from, "migrations/*.sql") // sorted by name
	if err != nil {
		return err
	}
	for i, name := range files {
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 {
			return fmt.Errorf("migration %s is out of order", name)
		}
	}
	u := &update{db: db, from: from, files: files, parts: inParts, tell: tell}
	if err := db.WithContext(ctx).Raw("PRAGMA user_version").Scan(&u.found).Error; err != nil {
		return err
	}
	if u.found > 0 && u.found < len(files) {
		defer u.hurry()()
	}
	for more := true; more; {
		if err := db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
			more, err = u.next(tx)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// hurry stops commits from waiting for the disk: a power failure may undo the last parts, which the
// next start repeats, and nothing else is written meanwhile. It returns a function that restores
// the setting.
func (u *update) hurry() (end func()) {
	u.db.Exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 16000; PRAGMA cache_size = -64000")
	return func() {
		u.db.Exec("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000; PRAGMA cache_size = -4000; PRAGMA wal_checkpoint(TRUNCATE)")
	}
}

// next runs the next migration, or the next part of a long one. more reports whether others may
// follow.
func (u *update) next(tx *gorm.DB) (more bool, err error) {
	var have int
	if err := tx.Raw("PRAGMA user_version").Scan(&have).Error; err != nil {
		return false, err
	}
	if have > len(u.files) {
		return false, fmt.Errorf("the database was written by a newer Fairlead (format %d, this one knows %d): start that one", have, len(u.files))
	}
	if have == len(u.files) {
		return false, nil
	}
	step := Progress{Step: have - u.found + 1, Steps: len(u.files) - u.found, Percent: -1}
	if p, long := u.parts[have+1]; long && u.found > 0 {
		over, err := p.next(tx, func(percent int) {
			step.Percent = percent
			u.say(step)
		})
		if err != nil {
			return false, fmt.Errorf("migration %s: %w", u.files[have], err)
		}
		if !over {
			return true, nil
		}
	} else {
		u.say(step)
		text, err := fs.ReadFile(u.from, u.files[have])
		if err != nil {
			return false, err
		}
		if err := tx.Exec(string(text)).Error; err != nil {
			return false, fmt.Errorf("migration %s: %w", u.files[have], err)
		}
	}
	return true, tx.Exec("PRAGMA user_version = " + strconv.Itoa(have+1)).Error
}

func (u *update) say(p Progress) {
	if u.tell != nil && u.found > 0 {
		u.tell(p)
	}
}
