package store

import (
	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// CallChange adds to a call's entry what became of what the call has queued. It returns the entries of
// the audit log about it.
type CallChange func(*Call) []protocol.AuditEntry

// put changes the entry of a call, whose state does not matter. A call that is not recorded stays so.
func (change CallChange) put(tx *gorm.DB, id protocol.CallID) error {
	var rows []callRow
	if err := tx.Where("id = ?", string(id)).Find(&rows).Error; err != nil || len(rows) == 0 {
		return err
	}
	c := rows[0].call()
	lines := change(&c)
	row := rowOfCall(c)
	if err := tx.Model(&row).Select("*").Updates(&row).Error; err != nil {
		return err
	}
	if err := setContinued(tx, id, c.Continued); err != nil {
		return err
	}
	return appendAudit(tx, lines)
}

func setContinued(tx *gorm.DB, id protocol.CallID, c protocol.Continuation) error {
	raw, err := protocol.Marshal(c)
	if err != nil {
		return err
	}
	return tx.Exec("UPDATE calls SET continued = ? WHERE id = ?", string(raw), string(id)).Error
}
