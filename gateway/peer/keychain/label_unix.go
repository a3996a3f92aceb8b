//go:build unix && !darwin

package keychain

import (
	"github.com/godbus/dbus/v5"
	ss "github.com/zalando/go-keyring/secret_service"
)

// setLabel gives a stored secret its label, which the library cannot choose. Without one the secret
// works, too.
var setLabel = func(service, name string) error {
	svc, err := ss.NewSecretService()
	if err != nil {
		return err
	}
	items, err := svc.SearchItems(svc.GetLoginCollection(), map[string]string{"username": name, "service": service})
	for _, item := range items {
		if err == nil {
			err = svc.Object("org.freedesktop.secrets", item).SetProperty("org.freedesktop.Secret.Item.Label", dbus.MakeVariant(label(name)))
		}
	}
	return err
}
