package kindcluster

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	auditinternal "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/yaml"
)

func TestConfiguration(t *testing.T) {
	config := configuration(Options{Nodes: 3, IPFamily: v1alpha4.DualStackFamily}, "/somewhere", true)
	require.Len(t, config.Nodes, 3)
	assert.Equal(t, v1alpha4.ControlPlaneRole, config.Nodes[0].Role)
	assert.Equal(t, []v1alpha4.Mount{{HostPath: "/somewhere/audit", ContainerPath: "/etc/kubernetes/audit"}}, config.Nodes[0].ExtraMounts)
	assert.Equal(t, v1alpha4.WorkerRole, config.Nodes[2].Role)
	assert.Equal(t, v1alpha4.DualStackFamily, config.Networking.IPFamily)
	assert.Empty(t, config.Nodes[2].ExtraMounts, "only one node has an API server")
	assert.Len(t, config.ContainerdConfigPatches, 2, "where registries are described, in both versions of the configuration")

	assert.False(t, config.Networking.DisableDefaultCNI)
	assert.Equal(t, "10.244.0.0/16,fd00:10:244::/56", config.Networking.PodSubnet)

	own := configuration(Options{KubeProxy: WithoutKubeProxy, Network: &Network{}}, "/somewhere", true).Networking
	assert.True(t, own.DisableDefaultCNI)
	assert.Equal(t, "10.96.0.0/16", own.ServiceSubnet)
	assert.Len(t, configuration(Options{}, "/somewhere", true).Nodes, 1)
	assert.Len(t, configuration(Options{Nodes: 1}, "/somewhere", false).ContainerdConfigPatches, 4)
}

func TestAuditPolicy(t *testing.T) {
	policy := &auditinternal.Policy{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(auditPolicy), policy))
	assert.Len(t, policy.Rules, 5)
}

func TestOptions_Validate(t *testing.T) {
	for what, options := range map[string]Options{
		"no name":              {Image: "i", Dir: "d"},
		"no image":             {Name: "n", Dir: "d"},
		"no folder":            {Name: "n", Image: "i"},
		"less nodes than none": {Name: "n", Image: "i", Dir: "d", Nodes: -1},
		"nobody routes":        {Name: "n", Image: "i", Dir: "d", KubeProxy: WithoutKubeProxy},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := Start(t.Context(), options)
			assert.ErrorContains(t, err, "a cluster")
		})
	}
}

func TestHasResourceCapability(t *testing.T) {
	assert.True(t, hasResourceCapability("Name:\tinit\nCapBnd:\t000001ffffffffff\n"))
	assert.False(t, hasResourceCapability("Name:\tinit\nCapBnd:\t000001fffeffffff\nCapAmb:\t0\n"))
	assert.True(t, hasResourceCapability("Name:\tinit\n"), "a kernel that does not tell")
}

func TestLogger_Steps(t *testing.T) {
	var out bytes.Buffer
	l := newLogger(&out)
	l.V(0).Infof(" • %s  ...\n", "Writing configuration 📜")
	l.V(0).Infof(" ✓ %s\n", "Writing configuration 📜")
	l.V(1).Info("a detail")
	l.V(0).Info("")
	l.Warn("careful")
	assert.Equal(t, "  Writing configuration (0.0 s)\ncareful\n", out.String())
}
