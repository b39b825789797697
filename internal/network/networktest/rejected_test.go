package networktest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/network"
	"github.com/trellis-garden/trellis/internal/network/examplenet"
	"github.com/trellis-garden/trellis/internal/network/networktest"
)

// brokenDriver is the example driver, broken by functions, which may be nil.
type brokenDriver struct {
	network.Driver
	render     func(*network.Shoot, *network.Rendering)
	transition func(*network.Shoot, *network.Stage) (*network.Stage, error)
}

func (b brokenDriver) Render(shoot *network.Shoot) (*network.Rendering, error) {
	rendering, err := b.Driver.Render(shoot)
	if err == nil && b.render != nil {
		b.render(shoot, rendering)
	}
	return rendering, err
}

func (b brokenDriver) Transition(shoot *network.Shoot, wanted *network.Rendering) (*network.Stage, error) {
	stage, err := b.Driver.Transition(shoot, wanted)
	if err == nil && b.transition != nil {
		return b.transition(shoot, stage)
	}
	return stage, err
}

// lossyFormDriver decodes less of its form than it encoded.
type lossyFormDriver struct{ network.Driver }

func (s lossyFormDriver) Transition(shoot *network.Shoot, wanted *network.Rendering) (*network.Stage, error) {
	known := *shoot
	known.Deployed.Form = json.RawMessage(strings.Replace(string(shoot.Deployed.Form), `"vxlan"],"sends":"vxlan"`, `"vxlan"],"sends":""`, 1))
	return s.Driver.Transition(&known, wanted)
}

// failingRenderDriver validates everything, and fails to render.
type failingRenderDriver struct{ network.Driver }

func (m failingRenderDriver) Render(shoot *network.Shoot) (*network.Rendering, error) {
	if len(shoot.Families) > 1 {
		return nil, errors.New("the second family is too much")
	}
	return m.Driver.Render(shoot)
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name},
	}
}

// TestViolations checks that the suite rejects broken drivers.
func TestViolations(t *testing.T) {
	t.Parallel()
	rendering := func(change func(*network.Shoot, *network.Rendering)) network.Driver {
		return brokenDriver{Driver: examplenet.New(), render: change}
	}
	transition := func(change func(*network.Shoot, *network.Stage) (*network.Stage, error)) network.Driver {
		return brokenDriver{Driver: examplenet.New(), transition: change}
	}
	var times atomic.Int32
	for sentence, test := range map[string]struct {
		driver          network.Driver
		scenario, wants string
	}{
		"a rendering that is different each time": {
			driver: rendering(func(_ *network.Shoot, r *network.Rendering) {
				r.Shoot[1].SetAnnotations(map[string]string{"times": fmt.Sprint(times.Add(1))})
			}),
			scenario: "delete: vxlan", wants: "Render answers the same question differently",
		},
		"a rendering that changes the shoot": {
			driver:   rendering(func(shoot *network.Shoot, _ *network.Rendering) { shoot.TechnicalID += "-changed" }),
			scenario: "delete: vxlan", wants: "Render changes its inputs",
		},
		"a rendering that holds credentials": {
			driver: rendering(func(_ *network.Shoot, r *network.Rendering) {
				r.Shoot = append(r.Shoot, &corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "key"}, Data: map[string][]byte{"key": []byte("x")},
				})
			}),
			scenario: "delete: vxlan", wants: "may hold no credentials",
		},
		"a rendering that an API server does not accept": {
			driver: rendering(func(_ *network.Shoot, r *network.Rendering) {
				r.Shoot = append(r.Shoot, configMap("Not_A_Name"))
			}),
			scenario: "delete: vxlan", wants: "Invalid value",
		},
		"a rendering that fails although it was accepted": {
			driver: failingRenderDriver{examplenet.New()}, scenario: "delete: vxlan, two families", wants: "Render fails although Validate has accepted",
		},
		"an object that is dropped and stays": {
			driver: rendering(func(shoot *network.Shoot, r *network.Rendering) {
				if !shoot.KubeProxy.Enabled {
					kept := configMap("example-net-leftover")
					kept.Annotations = map[string]string{resourcesv1alpha1.KeepObject: "true"}
					r.Shoot = append(r.Shoot, kept)
				}
			}),
			scenario: "from ipip, agent to vxlan", wants: "example-net-leftover",
		},
		"a form that cannot be read back": {
			driver: lossyFormDriver{examplenet.New()}, scenario: "delete: vxlan", wants: "while nodes run any of",
		},
		"a form that is nothing": {
			driver:   rendering(func(_ *network.Shoot, r *network.Rendering) { r.Form = nil }),
			scenario: "delete: none", wants: "a form that nobody can keep",
		},
		"a way that never arrives": {
			driver: transition(func(shoot *network.Shoot, stage *network.Stage) (*network.Stage, error) {
				if stage != nil && stage.Name == "sending the new encapsulation" {
					stage.Rendering.Form = exampleForm{Accepts: []string{"ipip", "vxlan"}, Sends: "vxlan", Routes: shoot.Deployed.RolledOut}
				}
				return stage, nil
			}),
			scenario: "from vxlan to ipip, agent", wants: "arrive",
		},
		"a way with a stage that nobody waits for": {
			driver: transition(func(_ *network.Shoot, stage *network.Stage) (*network.Stage, error) {
				if stage != nil {
					stage.Gate = network.Gate{}
				}
				return stage, nil
			}),
			scenario: "from vxlan to ipip, agent", wants: "are sent to nodes that accept",
		},
		"a way without stages": {
			driver:   transition(func(*network.Shoot, *network.Stage) (*network.Stage, error) { return nil, nil }),
			scenario: "from vxlan to ipip, agent", wants: "are sent to nodes that accept",
		},
		"a way that trusts nodes which have not caught up": {
			driver: alwaysRolledOutDriver{examplenet.New()}, scenario: "from vxlan to ipip, agent", wants: "are sent to nodes that accept",
		},
		"a way that is refused when it is half gone": {
			driver: transition(func(shoot *network.Shoot, stage *network.Stage) (*network.Stage, error) {
				if shoot.Deployed.RolledOut && stage != nil {
					return nil, errors.New("this is as far as it goes")
				}
				return stage, nil
			}),
			scenario: "from vxlan to ipip, agent", wants: "this is as far as it goes",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			violations := networktest.Violations(t.Context(), apiServer.Get(t), exampleSubject(t, test.driver), test.scenario)
			require.NotEmpty(t, violations, "nobody has noticed")
			assert.Contains(t, strings.Join(violations, "\n"), test.wants)
		})
	}
}

// alwaysRolledOutDriver treats everything that was deployed once as rolled out.
type alwaysRolledOutDriver struct{ network.Driver }

func (i alwaysRolledOutDriver) Transition(shoot *network.Shoot, wanted *network.Rendering) (*network.Stage, error) {
	known := *shoot
	known.Deployed.RolledOut = true
	return i.Driver.Transition(&known, wanted)
}

// TestExplore_BrokenDriver checks the same with drivers that fail only after another failure.
func TestExplore_BrokenDriver(t *testing.T) {
	t.Parallel()
	var renderings atomic.Int32
	forgetful := brokenDriver{Driver: examplenet.New(), render: func(_ *network.Shoot, r *network.Rendering) {
		// Twice for each reconciliation: it forgets what it did in the last one.
		r.Shoot[1].SetName(fmt.Sprintf("example-net-config-%d", renderings.Add(1)/2%2))
	}}
	report, err := networktest.Explore(t.Context(), apiServer.Get(t), exampleSubject(t, forgetful), networktest.Change{From: "vxlan", To: "ipip, agent"},
		contracttest.Options{MaxFailures: 1, MergeFaults: true, Deadline: time.Minute, Phases: []contracttest.Phase{contracttest.Create}})
	require.NoError(t, err)
	require.NotEmpty(t, report.Failures, "%s", report)
}
