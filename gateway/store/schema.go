package store

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strconv"

	"gorm.io/gorm"
)

// createTables creates the tables of an empty database.
//
//go:embed schema.sql
var createTables string

// schemaVersion is the version of the schema, stored as PRAGMA user_version. Versions 1 to 19 were
// those of development; they are not converted.
const schemaVersion = 20

// createSchema creates the tables of a new database. A database of another version is not changed
// and returns an error that says what to do. The version is read in the transaction, so that two
// programs that start together do not both create the tables.
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
		case version > 0:
			return fmt.Errorf("%s was written by a development version of Fairlead (format %d, this version reads %d) and cannot be converted: move the folder %s away and start again",
				path, version, schemaVersion, filepath.Dir(path))
		}
		if err := tx.Exec(createTables).Error; err != nil {
			return fmt.Errorf("create tables: %w", err)
		}
		return tx.Exec("PRAGMA user_version = " + strconv.Itoa(schemaVersion)).Error
	})
}
