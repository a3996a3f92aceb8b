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
// number of the last one. A migration is never edited once it was released.
func migrate(ctx context.Context, db *gorm.DB) error {
	files, err := fs.Glob(migrations, "migrations/*.sql") // sorted by name
	if err != nil {
		return err
	}
	var have int
	if err := db.WithContext(ctx).Raw("PRAGMA user_version").Scan(&have).Error; err != nil {
		return err
	}
	if have > len(files) {
		return fmt.Errorf("the database was written by a newer Fairlead (format %d, this one knows %d): start that one", have, len(files))
	}
	for i, name := range files[have:] {
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
		if n, err := strconv.Atoi(number); err != nil || n != have+i+1 {
			return fmt.Errorf("migration %s is out of order", name)
		}
		text, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		err = db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
			if err := tx.Exec(string(text)).Error; err != nil {
				return fmt.Errorf("migration %s: %w", name, err)
			}
			return tx.Exec("PRAGMA user_version = " + strconv.Itoa(have+i+1)).Error
		})
		if err != nil {
			return err
		}
	}
	return nil
}
