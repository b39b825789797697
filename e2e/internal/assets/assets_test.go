package assets

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const gomod = `module example

require (
	go.etcd.io/etcd/server/v3 v3.6.8
	github.com/gardener/gardener v1.149.3 // indirect
	github.com/gardener/gardener/pkg/apis v1.149.2
	github.com/projectcalico/api v0.0.0
	github.com/projectcalico/calico v1.11.0
	k8s.io/cloud-provider v0.36.3
	k8s.io/cloud-provider-aws v1.36.1
	k8s.io/cloud-provider-openstack v1.36.0
	k8s.io/kubernetes v1.36.3 // a comment
)

require go.etcd.io/etcd v0.0.1 // indirect
`

func TestStamp(t *testing.T) {
	source := t.TempDir()
	write := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(source, name), []byte(content), 0o644))
	}
	write("go.mod", gomod)
	write("go.sum", "one")

	etcd := build{name: "etcd", pkg: packages()["etcd"], source: source}
	apiserver := build{name: "kube-apiserver", pkg: packages()["kube-apiserver"], source: source}

	stampOf := func(b build) stamp {
		s, err := b.stamp(t.Context())
		require.NoError(t, err)
		return s
	}
	first := stampOf(apiserver)
	assert.Equal(t, "v1.36.3", first.version)
	assert.Contains(t, first.flags, "version.gitVersion=v1.36.3")
	assert.Contains(t, first.flags, "version.gitMinor=36")
	assert.Equal(t, "v3.6.8", stampOf(etcd).version, "the longest module path that holds the package decides")
	assert.Equal(t, "-s -w", stampOf(etcd).flags)
	assert.Equal(t, first.String(), stampOf(apiserver).String(), "the same inputs give the same stamp")

	manager := stampOf(build{name: "gardener-resource-manager", pkg: packages()["gardener-resource-manager"], source: source})
	assert.Equal(t, "v1.149.3", manager.version)
	assert.Contains(t, manager.flags, "version.gitVersion=v1.149.3")
	for _, name := range Gardener() {
		program := stampOf(build{name: name, pkg: packages()[name], source: source})
		assert.Equal(t, "v1.149.3", program.version, name)
		assert.Contains(t, program.flags, "version.gitVersion=v1.149.3", name)
	}
	cloudController := stampOf(build{name: "ccm", pkg: packages()["openstack-cloud-controller-manager"], source: source})
	assert.Contains(t, cloudController.flags, "k8s.io/cloud-provider-openstack/pkg/version.Version=v1.36.0")

	ofAWS := build{name: "ccm", pkg: packages()["aws-cloud-controller-manager"], source: source}
	assert.Equal(t, "v1.36.1", stampOf(ofAWS).version)

	typha := build{name: "calico-typha", pkg: packages()["calico-typha"], source: source}
	assert.Equal(t, "v1.11.0", stampOf(typha).version)
	assert.Equal(t, "-s -w", stampOf(typha).flags)

	write("go.sum", "two")
	assert.NotEqual(t, first.String(), stampOf(apiserver).String(), "other sources give another stamp")

	write("go.mod", "module example\n")
	_, err := apiserver.stamp(t.Context())
	assert.ErrorContains(t, err, "k8s.io/kubernetes/cmd/kube-apiserver")
}

func TestPrevious(t *testing.T) {
	for _, name := range []string{"kube-apiserver", "kube-controller-manager"} {
		assert.Contains(t, Previous(), PreviousOf(name))
		minors := map[string]string{}
		for _, one := range []string{name, PreviousOf(name)} {
			b, err := newBuild(one, t.TempDir())
			require.NoError(t, err)
			version, err := b.version()
			require.NoError(t, err)
			minors[one] = strings.Split(version, ".")[1]
		}
		now, err := strconv.Atoi(minors[name])
		require.NoError(t, err)
		assert.Equal(t, strconv.Itoa(now-1), minors[PreviousOf(name)], "%s is one minor version older", name)
	}
}

func TestEnsure_UnknownProgram(t *testing.T) {
	t.Setenv(DirVariable, t.TempDir())
	_, err := Ensure(t.Context(), t.Output(), "kube-scheduler")
	assert.ErrorContains(t, err, `unknown program "kube-scheduler"; known are aws-cloud-controller-manager, aws-load-balancer-controller, calico-kube-controllers, calico-typha, etcd, gardener-admission-controller, gardener-apiserver, gardener-controller-manager, `+
		`gardener-resource-manager, gardener-scheduler, gardenlet, kube-apiserver, kube-apiserver-previous, kube-controller-manager, kube-controller-manager-previous, kubectl, machine-controller-manager, openstack-cloud-controller-manager`)
}

func TestEnsure_UpToDate(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(DirVariable, dir)
	source := mustSource(t)
	for _, name := range APIServer() {
		b := build{name: name, pkg: packages()[name], source: source, dir: dir}
		wanted, err := b.stamp(t.Context())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(b.target(), nil, 0o755))
		require.NoError(t, os.WriteFile(b.stampFile(), []byte(wanted.String()), 0o644))
	}
	var output recorder
	got, err := Ensure(t.Context(), &output, APIServer()...)
	require.NoError(t, err)
	assert.Equal(t, dir, got)
	assert.Empty(t, output)
}

func mustSource(t *testing.T) string {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("..", "..", "binaries"))
	require.NoError(t, err)
	return source
}

type recorder string

func (r *recorder) Write(p []byte) (int, error) {
	*r += recorder(p)
	return len(p), nil
}
