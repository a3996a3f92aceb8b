// Package questiontest has a store of questions for tests.
package questiontest

import (
	"context"
	"sync"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Store stores questions in memory, for tests in a synctest bubble, which a database would leave. It
// is safe for concurrent use.
type Store struct {
	mu   sync.Mutex
	rows map[protocol.QuestionID]protocol.Question
}

// NewStore returns an empty store.
func NewStore() *Store { return &Store{rows: make(map[protocol.QuestionID]protocol.Question)} }

// Put stores a question.
func (s *Store) Put(_ context.Context, q protocol.Question, _ []store.Grant, _ ...store.Outbound) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[q.ID] = q
	return nil
}

// Change changes a pending question, without the rules.
func (s *Store) Change(_ context.Context, id protocol.QuestionID, change func(*protocol.Question) bool, _ ...store.RuleChange) (protocol.Question, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.rows[id]
	if q.State != protocol.QuestionPending || !change(&q) {
		return q, false, nil
	}
	s.rows[id] = q
	return q, true, nil
}

// Get returns a question, or protocol.ErrNotFound.
func (s *Store) Get(_ context.Context, id protocol.QuestionID) (protocol.Question, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, ok := s.rows[id]
	if !ok {
		return q, protocol.ErrNotFound
	}
	return q, nil
}

// Unanswered reports that the run answered everything.
func (s *Store) Unanswered(context.Context, protocol.RunID) (bool, error) { return false, nil }

// Pending returns the pending questions.
func (s *Store) Pending(context.Context) (list []protocol.Question, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.rows {
		if q.State == protocol.QuestionPending {
			list = append(list, q)
		}
	}
	return list, nil
}
