package webhooks

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

const (
	// timeout bounds every wait. It is generous, because it only costs time when a test fails.
	timeout  = 5 * time.Minute
	interval = 50 * time.Millisecond

	// registration is the name of all that the controller registers, and of its Service.
	registration = "gardener-extension-controlplane-controller"
	keystoneURL  = "https://keystone.example.org/v3"
)

// environment is a seed with the shoots of a test, in which replicas of the controller are started and ended.
type environment struct {
	*clusters.Seed
	gardenlet *gardenlet.Gardenlet
	// namespace is the controller's own.
	namespace string
	// loadBalancer is where the API server looks for the webhooks.
	loadBalancer *loadBalancer
	// probe is a shoot that tells whether webhooks are called, reference a namespace in which none are.
	probe     *gardenlet.Shoot
	reference string

	what               controller.Binary
	binary, kubeconfig string
	logs               string
	started            int
	running            []*replica
}

func newEnvironment(t *testing.T, what controller.Binary, binary string) *environment {
	t.Helper()
	s := clusterstest.New(t, clusters.Options{Bare: true, Seed: []seed.Option{seed.WithControlPlaneKinds()}}).Source
	env := &environment{
		Seed: s, gardenlet: s.Gardenlet, namespace: what.Name, loadBalancer: newLoadBalancer(t), reference: "reference",
		what: what, binary: binary, logs: t.TempDir(),
	}
	t.Cleanup(func() {
		for _, r := range env.running {
			r.stop(t)
		}
		env.assertNothingForbidden(t)
	})
	var err error
	env.kubeconfig, err = s.AddController(t.Context(), what.Name, what.Role)
	require.NoError(t, err)
	env.newNamespace(t, env.reference, nil)
	env.probe = newShoot("probe")
	env.prepare(t, env.probe)
	return env
}

// assertNothingForbidden makes sure that the controller has all the rights that it uses: to write, as the audit log has it, and
// to read, as the controller itself would complain.
func (env *environment) assertNothingForbidden(t *testing.T) {
	t.Helper()
	assert.NotEmpty(t, clusterstest.AssertNoWriteForbidden(t, env.Seed.Seed))
	for i := range env.started {
		assert.NotContains(t, readFile(t, env.log(i)), "is forbidden: User")
	}
}

// newShoot returns a shoot of the default cloud profile.
func newShoot(name string) *gardenlet.Shoot {
	shoot := gardenlet.NewShoot(name, "openstack", "RegionOne")
	shoot.Credentials = map[string][]byte{
		"domainName": []byte("default"), "tenantName": []byte("dev"), "username": []byte("robot"), "password": []byte("secret"),
	}
	shoot.CloudProfileConfig = cloudProfile(func(config *openstackv1alpha1.CloudProfileConfig) {
		config.KeyStoneURL, config.ResolvConfOptions = keystoneURL, []string{"rotate", "timeout:1"}
	})
	return shoot
}

func cloudProfile(change func(*openstackv1alpha1.CloudProfileConfig)) *openstackv1alpha1.CloudProfileConfig {
	config := &openstackv1alpha1.CloudProfileConfig{
		TypeMeta: metav1.TypeMeta{APIVersion: openstackv1alpha1.GroupVersion().String(), Kind: "CloudProfileConfig"},
	}
	change(config)
	return config
}

// prepare makes what gardenlet puts into the seed before anything else of a shoot.
func (env *environment) prepare(t *testing.T, shoot *gardenlet.Shoot) {
	t.Helper()
	require.NoError(t, env.gardenlet.Prepare(t.Context(), shoot))
}

func (env *environment) newNamespace(t *testing.T, name string, labels map[string]string) {
	t.Helper()
	require.NoError(t, env.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}))
}

// replica is a running process of the controller.
type replica struct {
	*controller.Controller
	// address is where it serves webhooks.
	address string
	log     string
	ended   bool
}

// start starts a replica and waits until it says that it is ready. Arguments given here win over the usual ones.
func (env *environment) start(t *testing.T, options controller.Options, args ...string) *replica {
	t.Helper()
	address, err := process.FreeAddress()
	require.NoError(t, err)
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	r := &replica{address: address, log: env.log(env.started)}
	env.started++
	options.Path, options.Kubeconfig, options.Output = env.binary, env.kubeconfig, r.log
	forShoots, err := env.what.ShootWebhookArgs()
	require.NoError(t, err)
	options.Args = slices.Concat([]string{
		"--webhook-config-namespace=" + env.namespace,
		"--webhook-config-server-host=" + host,
		"--webhook-config-server-port=" + port,
	}, forShoots, args)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	r.Controller, err = env.what.Start(ctx, options)
	require.NoError(t, err)
	env.running = append(env.running, r)
	return r
}

// byURL are the arguments of a replica that is called through the entrance.
func (env *environment) byURL() []string {
	return []string{"--webhook-config-mode=url", "--webhook-config-url=" + env.loadBalancer.address}
}

// stop asks the replica to end, which it must do in good order, unless it has ended.
func (r *replica) stop(t *testing.T) {
	t.Helper()
	if r.ended {
		return
	}
	r.ended = true
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	assert.NoError(t, r.Terminate(ctx))
	if t.Failed() {
		lines := strings.Split(strings.TrimSpace(readFile(t, r.log)), "\n")
		t.Logf("the log of the controller at %s:\n%s", r.address, strings.Join(lines[max(0, len(lines)-25):], "\n"))
	}
}

// kill ends the replica as a power failure would.
func (r *replica) kill() {
	r.ended = true
	r.Kill()
}

func (env *environment) log(number int) string {
	return filepath.Join(env.logs, fmt.Sprintf("controller-%d.log", number))
}

// webhookCalled asks the API server to take back what a webhook has added to credentials, and returns whether it was added again.
// Nothing is stored.
func (env *environment) webhookCalled(ctx context.Context) (bool, error) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: env.probe.Namespace(), Name: "cloudprovider", Labels: map[string]string{"gardener.cloud/purpose": "cloudprovider"},
	}}
	err := env.Client.Update(ctx, secret, client.DryRunAll)
	return string(secret.Data["authURL"]) == keystoneURL, err
}

// waitForCalls waits until the API server calls the webhooks, all of which it learns about at once.
func (env *environment) waitForCalls(t *testing.T) {
	t.Helper()
	eventually(t, "webhooks are called", func() bool {
		completed, err := env.webhookCalled(t.Context())
		return err == nil && completed
	})
}

// registered returns what the controller has registered, or an empty one when there is nothing.
func (env *environment) registered(t *testing.T) *admissionregistrationv1.MutatingWebhookConfiguration {
	t.Helper()
	object := &admissionregistrationv1.MutatingWebhookConfiguration{}
	require.NoError(t, client.IgnoreNotFound(env.Client.Get(t.Context(), client.ObjectKey{Name: registration}, object)))
	return object
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(timeout); !condition(); time.Sleep(interval) {
		if time.Now().After(end) {
			require.FailNow(t, "waited in vain until "+what)
		}
	}
}
