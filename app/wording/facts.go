package wording

// Fact is one known fact, such as about a machine or an app.
type Fact struct{ Name, Text string }

// Facts are the known facts about one thing.
type Facts []Fact

// Add adds a fact, unless its text is empty.
func (l *Facts) Add(name, text string) {
	if text != "" {
		*l = append(*l, Fact{Name: name, Text: text})
	}
}
