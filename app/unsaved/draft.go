// Package unsaved retains what the person typed and did not save.
package unsaved

import (
	"context"
	"reflect"
	"sync"
)

// Store retains what the person typed and did not save: texts of files and contents of forms. They
// may contain secrets, so they stay in memory. It is safe for concurrent use.
type Store struct{ values sync.Map }

// SaveFile retains the unsaved text of a file; an empty text drops it.
func (d *Store) SaveFile(path, text string) {
	if text == "" {
		d.values.Delete(path)
	} else {
		d.values.Store(path, text)
	}
}

// File returns the unsaved text of a file.
func (d *Store) File(path string) (text string, ok bool) {
	v, ok := d.values.Load(path)
	text, _ = v.(string)
	return text, ok
}

// formKey is the key of a form in [Store], which no path of a file equals.
type formKey string

// Draft is the unsaved content of one form, of a type that [reflect.DeepEqual] compares.
type Draft[T any] struct {
	drafts     *Store
	key        formKey
	start      T    // the content of the form without a draft
	IsRestored bool // the form was opened with an earlier draft
}

// Open returns the draft of a form and the content to open it with: the content that the person
// left, or else start. key names the form and what it edits, such as "schedule 3".
func Open[T any](d *Store, key string, start T) (Draft[T], T) {
	v, ok := d.values.Load(formKey(key))
	content, ok2 := v.(T)
	if !ok || !ok2 {
		content = start
	}
	return Draft[T]{d, formKey(key), start, ok && ok2}, content
}

// Save retains the content of the form, which must not be changed later. It drops the draft if the
// content is that of a form without one.
func (d Draft[T]) Save(content T) {
	if reflect.DeepEqual(content, d.start) {
		d.Drop()
		return
	}
	d.drafts.values.Store(d.key, content)
}

// Drop deletes the draft: the form was saved, or its content discarded.
func (d Draft[T]) Drop() { d.drafts.values.Delete(d.key) }

// Discarding returns a function that drops the draft, and then leaves or opens the form again.
func (d Draft[T]) Discarding(then func()) func() {
	return func() {
		d.Drop()
		then()
	}
}

// Saving returns work that saves the form and drops the draft if that succeeds. The work goes on
// when the person leaves the form: what was saved must not stay as a draft.
func (d Draft[T]) Saving(save func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := save(context.WithoutCancel(ctx))
		if err == nil {
			d.Drop()
		}
		return err
	}
}
