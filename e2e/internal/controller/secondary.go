package controller

import "strings"

// asSecondary is the argument that makes a binary a secondary controller.
const asSecondary = "--role=secondary"

// Secondary is the same binary as a secondary controller, with its chart's rights as such. Its namespace is one that gardenlet could have created for an
// installation.
func Secondary(primary Binary) Binary {
	types := primary.Types
	if primary.ObservedTypes != nil {
		types = primary.ObservedTypes
	}
	return withRole(Binary{
		Name: "extension-" + strings.TrimSuffix(primary.Name, "-controller") + "-secondary", Command: primary.Name, Types: types,
		Args: []string{asSecondary},
	})
}
