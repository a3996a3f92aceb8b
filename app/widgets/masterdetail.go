package widgets

import "fyne.io/fyne/v2"

// MasterDetail is a page with a list, and with the details of one of its items or a form in the
// list's place. It belongs to the GUI thread.
type MasterDetail struct {
	Body
	List *ItemList
	// Master is the list, or a text in its place.
	Master Body

	page   func(master fyne.CanvasObject) fyne.CanvasObject
	fill   func()
	detail *Detail // nil while the list is shown
}

// Detail stands in place of the list.
type Detail struct {
	// Update shows what has changed; nil, as for a form, leaves everything as the person has it.
	Update func()
	// Back goes back within the detail, and reports whether it did; nil never does.
	Back func() bool
	// Closed is called when the list is shown again; it may be nil.
	Closed func()
}

// NewMasterDetail creates a page that shows the list. page puts the title, actions and whatever
// surrounds the list around it; fill sets the items of the list and draws Master.
func NewMasterDetail(list *ItemList, page func(master fyne.CanvasObject) fyne.CanvasObject, fill func()) MasterDetail {
	return MasterDetail{Body: NewBody(), Master: NewBody(), List: list, page: page, fill: fill}
}

// Update shows what has changed.
func (m *MasterDetail) Update() {
	m.fill()
	if m.detail != nil && m.detail.Update != nil {
		m.detail.Update()
	}
}

// Show shows a detail, which draws itself in Body.
func (m *MasterDetail) Show(d Detail) {
	m.Forget()
	m.detail = &d
	if d.Update != nil {
		d.Update()
	}
}

// IsOpen reports whether a detail is shown.
func (m *MasterDetail) IsOpen() bool { return m.detail != nil }

// ShowList shows the list.
func (m *MasterDetail) ShowList() {
	d := m.detail
	m.detail = nil
	if d != nil && d.Closed != nil {
		d.Closed()
	}
	m.Put(m.page(m.Master.Box))
	m.fill()
}

// Leave shows the list and focuses it.
func (m *MasterDetail) Leave() {
	m.ShowList()
	Focus(m.List)
}

// Back returns from a detail, or within it, and reports whether one was shown.
func (m *MasterDetail) Back() bool {
	if m.detail == nil {
		return false
	}
	if m.detail.Back == nil || !m.detail.Back() {
		m.Leave()
	}
	return true
}
