package workspace

import "errors"

// With is r with one more granted folder, for one call. r stays as it is, and a path that is locked in one is locked in both. The caller closes what it
// gets.
func (r *Root) With(g Grant) (*Root, error) {
	if r.access == WholeDisk {
		return nil, errors.New("every folder can be used already")
	}
	for _, a := range r.areas {
		if err := a.check(); err != nil {
			return nil, err // what is opened anew would be another folder
		}
	}
	wide, err := Config{Dir: r.dir, Grants: append([]Grant{g}, r.grants...), ReadOnly: r.readOnly, Private: r.private}.Open()
	if err != nil {
		return nil, err
	}
	wide.locks = r.locks
	return wide, nil
}
