package app

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/look"
	"fairlead/app/widgets"
)

// firstPage is what a new person sees: three ways to begin, each one click.
func (s *shell) firstPage() fyne.CanvasObject {
	choice := func(icon, title, text, verb string, primary bool, act func()) fyne.CanvasObject {
		b := widgets.NewButton(verb, icon, func() { s.endFirstRun(); act() })
		b.Primary = primary
		return container.NewStack(widgets.NewRect(look.ColorSurface, look.ColorLine, look.Corner),
			widgets.Inset(look.Group, look.Group, look.Group, look.Group, widgets.Col(look.Inside,
				widgets.NewHeading(title, "text"), widgets.NewParagraph(text, look.ColorMuted, "text"), widgets.Row(look.Inside, -1, b))))
	}
	return container.NewStack(widgets.NewRect("background", "", 0), container.NewVScroll(
		widgets.Inset(48, look.Page, look.Page, look.Page, widgets.Limit(620, false, widgets.Col(look.Group,
			widgets.NewHeading("Welcome to Fairlead", look.SizeTitle),
			widgets.NewParagraph("An agent that works on your computers, under your hand: nothing with an effect happens before you saw it and allowed it. Who should answer you?", look.ColorText, "text"),
			choice("play", "The built-in operator", "Carries out plain requests at once, such as run ls -la or read README.md. No key, no network. You can connect a model at any time.",
				"Begin now", true, func() { s.pane.FocusComposer() }),
			choice("globe", "A model of a provider", "Anthropic, OpenAI, Google Gemini, OpenRouter, or any compatible server. You paste a key; it goes into this system's keychain.",
				"Connect a provider", false, s.openSettings),
			choice("machine", "A model on this computer", "Ollama, LM Studio and llama.cpp are found by themselves when they run.",
				"Look for one", false, s.openSettings),
		)))))
}

// endFirstRun remembers that the page was seen.
func (s *shell) endFirstRun() {
	s.firstRun = false
	s.arrange()
	bind.Go(s.ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.b.state.Set(ctx, "ui.firstRunDone", true)
	}, func(struct{}, error) {})
}
