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
	// Images are the driver's.
	Images images.Vector
	// Configurations are the shoots. The first one is what everything is tried with for which one will do.
	Configurations []Configuration
	// Changes tell what is particular about going from one of them to another. All other changes that users can make arrive.
	Changes map[Change]Outcome
	// ExtraConfigurations are more configurations for Outcome.As to name. Nobody goes to them or comes from them.
	ExtraConfigurations []Configuration
	// Staged are changes that go in stages. With them it is tried what else can happen on the way: changes of mind in the middle of
	// every stage, and the end of the shoot or of its stay in the first.
	Staged []Change
	// CheckConnectivity says whether pods reach each other while nodes run any of some forms of the plugin, and any of the deployed forms holds
	// for what is not on nodes: an error tells why not. It judges the driver, so it must not ask it. It may be nil, then nobody looks.
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

// Outcome is where a change leads that does not lead to what a new shoot would be like.
type Outcome struct {
	// Refused is a part of the error with which the change is refused while there are nodes.
	Refused string
	// SameAs names the configuration whose objects a new shoot would have that are the same as those after the change. That is when
	// something of the former configuration has to stay.
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

// canChangeTo reports whether Gardener lets users go from one configuration to the other: a shoot stays where it is, and gets or
// loses a second family at most.
func (c Configuration) canChangeTo(other Configuration) bool {
	from, to := c.families(), other.families()
	if len(from) > len(to) {
		from, to = to, from
	}
	return c.Name != other.Name && c.infrastructure() == other.infrastructure() && slices.Equal(from, to[:len(from)])
}

// configuration looks up one that is there.
func (s Subject) configuration(name string) Configuration {
	all := slices.Concat(s.Configurations, s.ExtraConfigurations)
	return all[slices.IndexFunc(all, func(c Configuration) bool { return c.Name == name })]
}

// changes returns all that users can make, in order.
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

// resultOf returns the configuration whose new shoots are as this change leaves a shoot.
func (s Subject) resultOf(change Change) Configuration {
	if as := s.Changes[change].SameAs; as != "" {
		return s.configuration(as)
	}
	return s.configuration(change.To)
}
