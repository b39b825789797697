package networktest

import (
	"encoding/json"
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/network"
)

// Subject is a driver, and the shoots that users can make with it.
type Subject struct {
	// Type is the value of spec.type that the driver serves.
	Type string
	// Driver is shared by all processes of the suite.
	Driver network.Driver
	// Images are the images of the driver.
	Images images.Vector
	// Configurations are the shoots. Scenarios that need only one use the first.
	Configurations []Configuration
	// Changes have an outcome of their own. All other changes that users can make lead to what a new shoot has.
	Changes map[Change]Outcome
	// ExtraConfigurations are more configurations for Outcome.SameAs. No change starts or ends there.
	ExtraConfigurations []Configuration
	// Staged are changes in stages. The suite interrupts them: it changes the goal in every stage, and deletes, migrates or hibernates the shoot in the
	// first.
	Staged []Change
	// CheckConnectivity returns an error if pods cannot reach each other while nodes run any of some forms of the plugin, and any of the deployed forms
	// is in effect outside of nodes. It tests the driver, so it must not call it. It may be nil.
	CheckConnectivity func(nodes, deployed []json.RawMessage) error
}

// Configuration is a shoot as users configure it.
type Configuration struct {
	Name string
	// ProviderConfig is spec.networking.providerConfig, nil for none.
	ProviderConfig runtime.Object
	// Families are those of spec.networking.ipFamilies; empty means IPv4.
	Families []extensionsv1alpha1.IPFamily
	// Infrastructure is spec.provider.type; empty means "openstack".
	Infrastructure string
	// Change changes whatever else the configuration is about, such as kube-proxy. It may be nil.
	Change func(*gardencorev1beta1.Shoot)
}

// Change goes from one configuration to another, by name.
type Change struct{ From, To string }

// String returns for example "from plain to fancy".
func (c Change) String() string { return fmt.Sprintf("from %s to %s", c.From, c.To) }

// Outcome is the result of a change that does not lead to what a new shoot has.
type Outcome struct {
	// Refused is a part of the error with which the change is refused while there are nodes.
	Refused string
	// SameAs names the configuration of which a new shoot has the same objects as the shoot after the change. It is set when a part of the old
	// configuration must be kept.
	SameAs string
}

func (c Configuration) families() []extensionsv1alpha1.IPFamily {
	if len(c.Families) == 0 {
		return []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4}
	}
	return c.Families
}

func (c Configuration) infrastructure() string {
	if c.Infrastructure == "" {
		return "openstack"
	}
	return c.Infrastructure
}

// canChangeTo reports whether Gardener allows the change: the infrastructure is immutable, and only a second family may be added or removed.
func (c Configuration) canChangeTo(other Configuration) bool {
	from, to := c.families(), other.families()
	if len(from) > len(to) {
		from, to = to, from
	}
	return c.Name != other.Name && c.infrastructure() == other.infrastructure() && slices.Equal(from, to[:len(from)])
}

// configuration returns the configuration of a name.
func (s Subject) configuration(name string) Configuration {
	all := slices.Concat(s.Configurations, s.ExtraConfigurations)
	return all[slices.IndexFunc(all, func(c Configuration) bool { return c.Name == name })]
}

// changes returns all changes that users can make, in order.
func (s Subject) changes() []Change {
	var all []Change
	for _, from := range s.Configurations {
		for _, to := range s.Configurations {
			if from.canChangeTo(to) {
				all = append(all, Change{From: from.Name, To: to.Name})
			}
		}
	}
	return all
}

// resultOf returns the configuration of which new shoots have the same objects as a shoot after this change.
func (s Subject) resultOf(change Change) Configuration {
	if as := s.Changes[change].SameAs; as != "" {
		return s.configuration(as)
	}
	return s.configuration(change.To)
}
