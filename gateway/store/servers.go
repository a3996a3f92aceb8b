package store

import (
	"context"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// AcceptedTool is what the person accepted of a tool of an MCP server.
type AcceptedTool struct {
	Hash        string `json:"hash"` // of its description, schemas and annotations
	Description string `json:"description"`
	Definition  string `json:"definition,omitempty"` // all that the hash covers, for people; empty if an older version stored it
}

// AcceptedTools are the accepted tools of a server, by their names.
type AcceptedTools map[string]AcceptedTool

// Servers stores what the person accepted of MCP servers.
type Servers struct{ *conn }

type serverRow struct {
	Name  protocol.ServerName `gorm:"primaryKey"`
	Tools AcceptedTools       `gorm:"column:json;serializer:json"`
}

func (serverRow) TableName() string { return "servers" }

// List returns the accepted tools of every server.
func (s *Servers) List(ctx context.Context) (map[protocol.ServerName]AcceptedTools, error) {
	rows, err := find[serverRow](ctx, s.conn, "read servers", func(db *gorm.DB) *gorm.DB { return db })
	list := make(map[protocol.ServerName]AcceptedTools, len(rows))
	for _, r := range rows {
		list[r.Name] = r.Tools
	}
	return list, err
}

// Put stores the accepted tools of a server.
func (s *Servers) Put(ctx context.Context, name protocol.ServerName, tools AcceptedTools) error {
	return s.write(ctx, "store server", func(tx *gorm.DB) error { return upsert(tx, &serverRow{name, tools}) })
}

// Delete forgets a server.
func (s *Servers) Delete(ctx context.Context, name protocol.ServerName) error {
	return s.write(ctx, "delete server", func(tx *gorm.DB) error {
		return tx.Where("name = ?", string(name)).Delete(&serverRow{}).Error
	})
}
