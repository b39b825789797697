//go:build openstack

package openstack

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

var record = flag.String("record", "", "keep what the real cloud answers as that of a release, such as zed")

const (
	records = "../../internal/cloud/openstack/conformance/testdata"
	// minBehaviours must pass on both clouds. The number prevents that behaviours are lost.
	minBehaviours = 400
)

// operatorEntry is the name of the administrator in clouds.yaml.
func operatorEntry() string { return cmp.Or(os.Getenv("OS_CLOUD"), "admin") }

// TestConformance tests each behaviour on the real cloud and on the fake, and prints both results side by side.
func TestConformance(t *testing.T) {
	target, err := conformance.FromFile(operatorEntry())
	require.NoError(t, err, "make e2e-openstack brings a cloud up and says where it is")

	var realResults, fakeResults []conformance.Result
	t.Run("real", func(t *testing.T) { realResults = conformance.Run(t, target, os.Stdout) })
	if *record != "" {
		require.NoError(t, conformance.WriteRecords(filepath.Join(records, *record), "OpenStack "+*record, realResults))
	}
	t.Run("fake", func(t *testing.T) { fakeResults = conformance.Run(t, startFake(t), os.Stdout) })

	answers := map[string][]conformance.Exchange{}
	for _, result := range realResults {
		if result.Tried {
			answers[result.Name] = append([]conformance.Exchange{}, result.Exchanges...)
		}
	}
	differences := map[string][]string{}
	tried := 0
	for _, result := range fakeResults {
		if !result.Tried || answers[result.Name] == nil {
			continue
		}
		tried++
		differences[result.Name] = conformance.Differences(result.Exchanges, answers[result.Name])
		assert.Emptyf(t, differences[result.Name], "%s: %s", result.Area, result.Name)
	}
	agreed, err := conformance.WriteTable(os.Stdout, "real", "fake", realResults, fakeResults, differences)
	require.NoError(t, err)
	if tried == len(behaviours()) {
		assert.GreaterOrEqual(t, agreed, minBehaviours)
	}
}

func behaviours() []conformance.Behaviour {
	var all []conformance.Behaviour
	for _, area := range conformance.Areas() {
		all = append(all, area.Behaviours...)
	}
	return all
}

func startFake(t *testing.T) conformance.Cloud {
	t.Helper()
	// Long enough that a request that follows at once finds a load balancer busy.
	busy := fake.Transition{After: 30 * time.Millisecond}
	cloud := fake.New(fake.WithTransition(fake.LoadBalancerCreate, busy),
		fake.WithTransition(fake.LoadBalancerUpdate, busy), fake.WithTransition(fake.LoadBalancerDelete, busy))
	require.NoError(t, cloud.Start("127.0.0.1:0"))
	t.Cleanup(func() { assert.NoError(t, cloud.Close()) })
	return conformance.Cloud{
		Name: "fake", AuthURL: cloud.AuthURL(), Region: fake.DefaultRegion, ExternalNetwork: fake.ExternalNetwork,
		Operator: conformance.Login{User: fake.AdminUser, Password: fake.AdminPassword, Project: fake.AdminProject},
	}
}
