package rpc

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

// transferRows is a store of transfers in memory.
type transferRows struct {
	mu   sync.Mutex // guards rows
	rows []store.Transfer
}

func (s *transferRows) Put(_ context.Context, t store.Transfer, _ ...store.CallChange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.rows, func(r store.Transfer) bool { return r.ID == t.ID }); i >= 0 {
		s.rows[i] = t
	} else {
		s.rows = append(s.rows, t)
	}
	return nil
}

func (s *transferRows) Get(_ context.Context, id protocol.TransferID) (store.Transfer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rows {
		if r.ID == id {
			return r, nil
		}
	}
	return store.Transfer{}, protocol.ErrNotFound.With("There is no transfer " + string(id))
}

func (s *transferRows) List(_ context.Context, f store.TransferFilter) (list []store.Transfer, n int, err error) {
	if !f.Finished {
		return nil, 0, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range slices.Backward(s.rows) {
		if r.EndedAt > 0 {
			list = append(list, r)
		}
	}
	return list, len(list), nil
}

func (s *transferRows) Delete(_ context.Context, ids []protocol.TransferID) (gone []protocol.TransferID, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = slices.DeleteFunc(s.rows, func(r store.Transfer) bool {
		if r.EndedAt == 0 || len(ids) > 0 && !slices.Contains(ids, r.ID) {
			return false
		}
		gone = append(gone, r.ID)
		return true
	})
	return gone, nil
}

// transferCalls decides about transfers: each one to a path with "forbidden" in it is denied.
// transferCalls authorizes transfers by the caller's scopes, and by whether they are forbidden.
type transferCalls struct{ *tool.Pipeline }

func (c transferCalls) Authorize(_ context.Context, call tool.Call) (tool.Authorization, error) {
	if err := c.Check(call); err != nil {
		return tool.Authorization{}, err
	}
	if strings.Contains(string(call.Args), "forbidden") {
		return tool.Authorization{}, protocol.ErrForbidden.With("Denied by a rule: no.")
	}
	return tool.Authorization{}, nil
}

func (transferCalls) Continue(context.Context, tool.Step) (json.RawMessage, error) {
	return nil, protocol.ErrUnavailable
}
