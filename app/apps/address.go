package apps

import (
	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// mcpAddress is where apps on this computer connect over MCP; empty if the gateway listens nowhere.
type mcpAddress string

const noAddress = "Apps cannot connect, because the gateway listens on no address."

func (a mcpAddress) copyButton(e host.Env) *widgets.Button {
	return widgets.NewButton("Copy address", "copy", func() {
		e.Copy(string(a))
		e.Say("The address was copied.")
	})
}

// line shows the address with a button that copies it.
func (a mcpAddress) line(e host.Env) fyne.CanvasObject {
	if a == "" {
		return widgets.NewParagraph(noAddress, style.ColorMuted, style.SizeSmall)
	}
	text := widgets.NewParagraph("Apps connect over MCP at "+string(a), style.ColorMuted, style.SizeSmall)
	button := a.copyButton(e)
	button.Quiet = true
	return widgets.Row(style.Inside, 0, text, button)
}
