package app

import "fairlead/app/state"

func (s *shell) trayDo(i state.TrayItem) {
	switch i.Do {
	case state.TrayOpen:
		s.show()
	case state.TrayNew:
		s.show()
		s.newChat()
	case state.TrayChat:
		s.show()
		s.open(i.Key)
	case state.TrayReview:
		s.review(i.ID)
	case state.TrayNeeds:
		s.show()
		s.openInbox()
	case state.TrayMode:
		s.b.state.Chats.SetMode(i.Key, state.ModeChoices[i.Mode])
	case state.TrayPause:
		s.b.state.Pause(!s.view.Status.Paused)
	case state.TrayTransfers:
		s.show()
		s.openNamed(transfersTitle)
	case state.TrayMachine:
		s.show()
		s.openMachine(i.Node)
	case state.TrayGateway:
		if err := s.b.elsewhere.Open(i.Gateway); err != nil {
			s.show()
			s.say("No window was opened: " + err.Error())
		}
	case state.TraySettings:
		s.openSettings()
	case state.TrayQuit:
		s.quit()
	}
}
