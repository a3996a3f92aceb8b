package native

import (
	"reflect"

	"fyne.io/fyne/v2"

	"fairlead/gateway/peer/crash"
)

// pointerFields are the fields in which Fyne remembers the object under the pointer, and what is
// pressed and dragged (fyne 2.8.0, internal/driver/glfw/window_desktop.go).
var pointerFields = []string{"mouseDragged", "mouseDragStarted", "mouseButton", "mouseOver", "mousePressed"}

// input is what the toolkit remembers of the events of a window. It belongs to the GUI thread.
type input struct {
	pointer []reflect.Value
	focused reflect.Value // the object with the keyboard; invalid if unknown
	unfocus func()
}

// inputOf finds the fields of a window and of its canvas. It leaves out unknown ones.
func inputOf(window any, canvas fyne.Canvas) (in input) {
	for _, name := range pointerFields {
		if f := field(reflect.ValueOf(window), name); f.IsValid() {
			in.pointer = append(in.pointer, f)
		}
	}
	if manager := field(reflect.ValueOf(canvas), "contentFocusMgr"); manager.IsValid() {
		in.focused = field(manager, "focused")
	}
	in.unfocus = canvas.Unfocus
	return in
}

// guard handles an event of the pointer. A panic of an object is the failure of the event, and the
// toolkit forgets the object: it would call the object again at the next event, such as to end a
// drag, and never come to what was clicked.
func (in input) guard(handle func()) {
	if crash.Run(event, handle) == nil {
		return
	}
	for _, f := range in.pointer {
		f.SetZero()
	}
	if crash.Run(event, in.unfocus) != nil && in.focused.IsValid() {
		in.focused.SetZero()
	}
}

// field returns a field of the struct that v points to, so that it can be set; invalid if v does not
// point to a struct with it.
func field(v reflect.Value, name string) reflect.Value {
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return reflect.Value{}
	}
	f := v.Elem().FieldByName(name)
	if !f.IsValid() {
		return f
	}
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
}
