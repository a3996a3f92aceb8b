package keychain

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Replace sets secrets by name; an empty one is deleted. If one of them cannot be changed, those
// before it get their earlier values again, and nothing has changed. undo gives all of them their
// earlier values, for a caller that cannot store what belongs to the secrets.
func Replace(s Store, secrets map[string]Secret) (undo func() error, err error) {
	earlier := make(map[string]Secret, len(secrets))
	undo = func() error {
		var errs []error
		for name, value := range earlier {
			if err := put(s, name, value); err != nil {
				errs = append(errs, fmt.Errorf("restore %s: %w", name, err))
			}
		}
		return errors.Join(errs...)
	}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		was, err := s.Get(name)
		isKnown := err == nil || errors.Is(err, ErrNotFound) // one that cannot be read cannot be restored
		if isKnown && was == secrets[name] {
			continue
		}
		if err := put(s, name, secrets[name]); err != nil {
			return nil, errors.Join(fmt.Errorf("change the secret %s: %w", name, err), undo())
		}
		if isKnown {
			earlier[name] = was
		}
	}
	return undo, nil
}

func put(s Store, name string, value Secret) error {
	if value == "" {
		return s.Delete(name)
	}
	return s.Set(name, value)
}
