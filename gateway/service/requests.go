package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/store"
)

// Limits of the requests for access.
const (
	requestLife = 24 * time.Hour // of the question
	deniedFor   = 24 * time.Hour // until one may ask again
	maxMessage  = 200            // characters of a visitor's message
	maxRequests = 20             // open questions of all services
	// maxOfService is the number of open questions of a service, and of questions in a row;
	// requestEvery is the time until one more may follow.
	maxOfService = 5
	requestEvery = 10 * time.Minute
	// maxOfSource is the number of requests from one network address at a service that wait or were
	// denied.
	maxOfSource = 3
)

// RequestStore stores who asks for access.
type RequestStore interface {
	PutVisit(ctx context.Context, v store.Visit, now int64) error
	AskingVisit(ctx context.Context, hash string, now int64) (store.Visit, bool, error)
	Visits(ctx context.Context, id protocol.ServiceID, now int64) ([]store.Visit, error)
	DeleteVisits(ctx context.Context, id protocol.ServiceID, gone func(store.Visit) bool, lines ...protocol.AuditEntry) ([]store.Visit, error)
}

// Questions asks the owner. *question.Queue implements it.
type Questions interface {
	Open(ctx context.Context, q protocol.Question, t question.Terms) (protocol.Question, error)
	Pending(ctx context.Context) ([]protocol.Question, error)
	Withdraw(ctx context.Context, id protocol.QuestionID) error
}

// requests ask the owner about visitors who are not on the list of a service.
type requests struct {
	services  *Services
	store     RequestStore
	questions Questions
	asking    sync.Mutex // held while the open requests are counted and one is added
}

// ask asks the owner about a visitor, and returns the secret with which the same browser gets in
// after the answer. The error is a *protocol.Fault if the address is invalid, or
// protocol.ErrTooMany, also if somebody asks with the same address, or was denied within a day:
// whoever comes second must not get in with the answer to the first, nor learn more about it.
func (q *requests) ask(ctx context.Context, s protocol.Service, asks protocol.VisitSubject) (secret string, err error) {
	if asks.Email, err = normalAddress(asks.Email); err == nil && strings.Contains(asks.Email, "*") {
		err = invalid("%q is a pattern, not an address", asks.Email)
	}
	if err != nil {
		return "", err
	}
	asks.Service, asks.Title, asks.URL, asks.Message = s.ID, s.Title, q.services.described(s).URL, format.Line(asks.Message, maxMessage)
	q.asking.Lock()
	defer q.asking.Unlock()
	if err := q.checkLimits(ctx, asks); err != nil {
		return "", err
	}
	secret = rand.Text()
	id := protocol.QuestionID(protocol.NewID())
	visit := store.Visit{
		Hash: hash(secret), Service: s.ID, ExpiresAt: time.Now().Add(requestLife).UnixMilli(), State: store.VisitWaiting,
		Email: asks.Email, Verified: asks.Verified, IsClaimed: asks.Verified == "", From: asks.From, Question: id,
	}
	err = q.open(ctx, protocol.Question{
		ID: id, Kind: protocol.AskVisit, Node: s.NodeID, AskedBy: protocol.AskedBy{Kind: protocol.AskedByVisitor, Name: asks.Email}, Visit: &asks,
	}, func() error { return q.store.PutVisit(ctx, visit, time.Now().UnixMilli()) })
	if err != nil {
		err = errors.Join(err, q.delete(context.WithoutCancel(ctx), s.ID, id))
	}
	return secret, err
}

// delete deletes the visit that waits for the answer to a question.
func (q *requests) delete(ctx context.Context, s protocol.ServiceID, id protocol.QuestionID) error {
	_, err := q.store.DeleteVisits(ctx, s, func(v store.Visit) bool { return v.Question == id && v.State == store.VisitWaiting })
	return err
}

// checkLimits returns why a visitor may not ask now.
func (q *requests) checkLimits(ctx context.Context, asks protocol.VisitSubject) error {
	visits, err := q.store.Visits(ctx, asks.Service, time.Now().UnixMilli())
	if err != nil {
		return err
	}
	ofSource := 0
	for _, v := range visits {
		// What somebody did who only claims an address does not affect whoever has proven it.
		isSame := v.Email == asks.Email && v.IsClaimed == (asks.Verified == "")
		switch {
		case v.State != store.VisitWaiting && v.State != store.VisitDenied:
		case isSame:
			return protocol.ErrTooMany
		case sourceOf(v.From) == sourceOf(asks.From):
			ofSource++
		}
	}
	pending, err := q.questions.Pending(ctx)
	if err != nil {
		return err
	}
	open := 0
	for _, p := range pending {
		if p.Visit != nil {
			open++
		}
	}
	if ofSource >= maxOfSource || open >= maxRequests {
		return protocol.ErrTooMany
	}
	return nil
}

// open opens a question, which expires a day after it was asked first.
func (q *requests) open(ctx context.Context, ask protocol.Question, save func() error) error {
	asker := "visitors of " + string(ask.Visit.Service)
	if ask.Visit.Verified != "" { // whom a flood of claims does not keep out
		asker = "verified " + asker
	}
	expires := requestLife
	if ask.CreatedAt > 0 {
		expires = max(time.Until(time.UnixMilli(ask.CreatedAt).Add(requestLife)), time.Millisecond)
	}
	_, err := q.questions.Open(ctx, ask, question.Terms{
		Expires: expires, Limit: question.Limit{Asker: asker, Open: maxOfService, Burst: maxOfService, Every: requestEvery},
		Store: save, Apply: q.apply, Ended: q.forget,
	})
	return err
}

// load asks the questions of an earlier start again. A visitor whose question a crash kept from being
// stored no longer waits, and can ask again.
func (q *requests) load(ctx context.Context) error {
	list, err := q.questions.Pending(ctx)
	isOpen := make(map[protocol.QuestionID]bool)
	for _, p := range list {
		isOpen[p.ID] = true
		if p.Visit != nil && err == nil {
			err = q.open(ctx, p, nil)
		}
	}
	for _, s := range q.services.Stored() {
		if err == nil {
			_, err = q.store.DeleteVisits(ctx, s.ID, func(v store.Visit) bool { return v.State == store.VisitWaiting && !isOpen[v.Question] })
		}
	}
	return err
}

// withdraw closes the questions about a service that is deleted.
func (q *requests) withdraw(ctx context.Context, id protocol.ServiceID) {
	list, err := q.questions.Pending(ctx)
	for _, p := range list {
		if p.Visit != nil && p.Visit.Service == id && err == nil {
			err = q.questions.Withdraw(ctx, p.ID)
		}
	}
	if err != nil {
		slog.Warn("A question about a deleted service stays open", "service", id, "err", err)
	}
}

// apply carries out an answer. It may run again for the same question, if the answer could not be
// stored.
func (q *requests) apply(ctx context.Context, who auth.Principal, ask *protocol.Question, in protocol.QuestionAnswerParams) error {
	visit, err := q.waiting(ctx, *ask)
	if err != nil {
		return err
	}
	now := time.Now()
	visit.State, visit.IsGranted = "", true
	switch subject := *ask.Visit; in.Decision {
	case protocol.DecisionAllow:
		subject.For = cmp.Or(in.For, protocol.VisitHour)
		ask.Visit = &subject
		switch subject.For {
		case protocol.VisitHour:
			visit.ExpiresAt = now.Add(time.Hour).UnixMilli()
		case protocol.VisitDay:
			visit.ExpiresAt = now.Add(24 * time.Hour).UnixMilli()
		case protocol.VisitAlways:
			visit.ExpiresAt, visit.IsGranted = now.Add(visitLife).UnixMilli(), false
			if err := q.addToList(ctx, visit, who.String()); err != nil {
				return err
			}
		default:
			return protocol.ErrBadRequest.With(fmt.Sprintf("for must be %s, %s or %s, not %.40q", protocol.VisitHour, protocol.VisitDay, protocol.VisitAlways, subject.For))
		}
	default:
		visit.State, visit.IsGranted, visit.ExpiresAt = store.VisitDenied, false, now.Add(deniedFor).UnixMilli()
	}
	return q.store.PutVisit(ctx, visit, now.UnixMilli())
}

// waiting returns the visit about which a question asks.
func (q *requests) waiting(ctx context.Context, ask protocol.Question) (store.Visit, error) {
	visits, err := q.store.Visits(ctx, ask.Visit.Service, time.Now().UnixMilli())
	for _, v := range visits {
		if v.Question == ask.ID {
			return v, err
		}
	}
	if err == nil {
		err = protocol.ErrNotFound.With("The visitor no longer waits, or the app is no longer published.")
	}
	return store.Visit{}, err
}

// addToList adds a visitor to the list of a service on which they are not yet.
func (q *requests) addToList(ctx context.Context, v store.Visit, by string) error {
	s, err := q.services.Get(v.Service)
	if err == nil && s.SignIn && !Matches(s.Visitors, v.Email) {
		_, err = q.services.Share(ctx, v.Service, ShareAdd, []string{v.Email}, by)
	}
	if f, ok := errors.AsType[*protocol.Fault](err); ok {
		err = protocol.ErrConflict.With(f.Message)
	}
	return err
}

// forget deletes the visit of a question that was closed without an answer.
func (q *requests) forget(ask protocol.Question) {
	if ask.State == protocol.QuestionAllowed || ask.State == protocol.QuestionDenied {
		return
	}
	if err := q.delete(context.Background(), ask.Visit.Service, ask.ID); err != nil {
		slog.Warn("A request for access that has ended is still stored", "service", ask.Visit.Service, "err", err)
	}
}
