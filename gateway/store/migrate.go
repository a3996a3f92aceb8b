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

// migrate runs the numbered migrations that the database lacks, each in a transaction of its own. PRAGMA user_version holds the
// number of the last one; it is read inside the transaction, so that two programs which start together do not both run one. A
// migration is never edited once it was released.
func migrate(ctx context.Context, db *gorm.DB, from fs.FS) error {
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
	for have := 0; have < len(files); {
		err := db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
			if err := tx.Raw("PRAGMA user_version").Scan(&have).Error; err != nil {
				return err
			}
			if have > len(files) {
				return fmt.Errorf("the database was written by a newer Fairlead (format %d, this one knows %d): start that one", have, len(files))
			}
			if have == len(files) {
				return nil
			}
			text, err := fs.ReadFile(from, files[have])
			if err != nil {
				return err
			}
			if err := tx.Exec(string(text)).Error; err != nil {
				return fmt.Errorf("migration %s: %w", files[have], err)
			}
			have++
			return tx.Exec("PRAGMA user_version = " + strconv.Itoa(have)).Error
		})
		if err != nil {
			return err
		}
	}
	return nil
}
