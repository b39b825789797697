package openstack

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
	"github.com/trellis-garden/trellis/internal/infrastructure"
	"github.com/trellis-garden/trellis/internal/observer"
)

// observing is a shoot with an observer. Each observation reads the cloud anew.
type observing struct {
	*environment
	// base wraps the observer's transport.
	base func(http.RoundTripper) http.RoundTripper
	// machineTypes are those of the cloud profile.
	machineTypes []gardencorev1beta1.MachineType
	// here are the technical IDs of the shoots in this seed.
	here map[string]bool
}

func newObserving(t *testing.T, options ...fake.Option) *observing {
	t.Helper()
	return &observing{environment: newEnvironment(t, options...), here: map[string]bool{technicalID: true}}
}

func newReaders(wrap func(http.RoundTripper) http.RoundTripper) *cloudopenstack.Readers {
	return cloudopenstack.NewReaders(cloudopenstack.Options{QPS: -1, Transport: wrap, Retry: transport.RetryPolicy{FirstPause: time.Millisecond}})
}

func allObservations() observer.Names {
	names := observer.Names{}
	for _, observation := range infrastructure.Observations() {
		names[observation.Name] = true
	}
	return names
}

func (o *observing) observerInput() *infrastructure.ObserverInput {
	shoot := o.input()
	shoot.Cluster.CloudProfile.Spec.MachineTypes = o.machineTypes
	return &infrastructure.ObserverInput{
		Shoot: shoot, Wanted: allObservations(), Now: time.Now(),
		Namespaces: func(context.Context) (map[string]bool, error) { return o.here, nil },
	}
}

// observe observes once, and fails the test if that changes anything in the cloud.
func (o *observing) observe() (observer.Result, error) {
	o.t.Helper()
	before := o.resources()
	o.cloud.ResetLog()
	result, err := NewObserver(newReaders(o.base), time.Hour).Observe(o.t.Context(), o.observerInput())
	for _, call := range o.takeCalls().Where(wire.Call.IsWrite) {
		assert.True(o.t, call.IsLogin(), "an observer wrote: %s", call.Name())
	}
	o.assertUnchanged(before)
	return result, err
}

// find returns the finding of one observation.
func (o *observing) find(name string) observer.Finding {
	o.t.Helper()
	result, err := o.observe()
	require.NoError(o.t, err)
	require.Contains(o.t, result.Findings, name)
	require.NoError(o.t, result.Findings[name].Err)
	return result.Findings[name]
}

func TestObserver_HealthyAfterReconcile(t *testing.T) {
	for sentence, prepare := range map[string]func(o *observing){
		"a default shoot": func(*observing) {},
		"given resources": func(o *observing) {
			router := o.plantRouter("theirs")
			network := o.plant("networks", fake.Attrs{"name": "theirs"})
			o.config.Networks = openstackv1alpha1.Networks{
				ID: &network, SubnetID: new(o.plantSubnet(network, "theirs", "10.250.0.0/19")), Router: &openstackv1alpha1.Router{ID: router},
			}
		},
		"a network of the user's with the shoot's subnet": func(o *observing) {
			o.config.Networks.ID = new(o.plant("networks", fake.Attrs{"name": "theirs"}))
		},
		"every field":      everyField,
		"a share network":  func(o *observing) { o.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true} },
		"dual stack":       dualStack,
		"from a pool":      func(o *observing) { usePool(o) },
		"no SSH access":    func(o *observing) { o.infra.Spec.SSHPublicKey = nil },
		"source ranges":    func(o *observing) { o.config.Networks.NodePortSourceRanges = []string{"192.0.2.0/24"} },
		"floating subnets": func(o *observing) { o.selectFloatingSubnet("public-b") },
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newObserving(t)
			prepare(o)
			o.mustReconcile()
			result, err := o.observe()
			require.NoError(t, err)
			assert.Len(t, result.Findings, len(infrastructure.Observations()))
			for name, finding := range result.Findings {
				assert.NoError(t, finding.Err, name)
				assert.True(t, finding.Healthy, "%s: %s", name, finding.Message)
			}
		})
	}
}

// everyField configures all that the driver can write to a network and a router.
func everyField(o *observing) {
	o.cloud.SetPolicy(fake.Policy{SeeExternalSubnets: true, SetGatewaySubnet: true, SetGatewayAddress: true, SetSNAT: true})
	o.profile.UseSNAT = new(true)
	o.config.FloatingPoolSubnetName = new(fake.ExternalSubnetA)
	o.config.Networks.MTU = new(1400)
	o.config.Networks.AvailabilityZoneHints = &openstackv1alpha1.AvailabilityZoneHints{Network: []string{"zone-a", "zone-b"}, Router: []string{"zone-b"}}
	o.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
}

func dualStack(o *observing) {
	o.config.Networks.IPv6 = &openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/64"}
	o.shoot.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
}

func usePool(o *observing) {
	pool := o.plant("subnetpools", fake.Attrs{"name": "nodes", "prefixes": []string{"10.0.0.0/8"}, "default_prefixlen": 24})
	o.config.Networks.Workers = ""
	o.config.Networks.SubnetPool = &openstackv1alpha1.SubnetPool{ID: pool, PrefixLength: new(20)}
}

func TestObserver_AdoptedShoot(t *testing.T) {
	o := newObserving(t)
	o.mustReconcile()
	state := o.state()
	for collection, of := range map[string]struct{ key, id, description string }{
		"networks": {"network", state["Network"], ""}, "subnets": {"subnet", state["Subnet"], ""}, "routers": {"router", state["Router"], ""},
		"security-groups": {"security_group", state["SecurityGroup"], upstreamGroupDescription},
	} {
		o.updateResource(collection, of.key, of.id, fake.Attrs{"description": of.description})
	}
	assert.Equal(t, 4, strings.Count(o.find(infrastructure.ObservationDrift).Message, "has the description"))
	o.changeState(openstackv1alpha1.StateKeyAdopted, "true")
	assert.True(t, o.find(infrastructure.ObservationDrift).Healthy, "the upstream extension's resources have no mark")
}

func TestObserver_Orphans(t *testing.T) {
	other := formatMark("shoot--dev--elsewhere", "11111111-2222-3333-4444-555555555555")
	for sentence, tc := range map[string]struct {
		cause   func(o *observing)
		healthy bool
		want    string
	}{
		"resources of an earlier shoot with the same technical ID": {
			cause: func(o *observing) {
				o.plant("routers", fake.Attrs{"name": technicalID, "description": formatMark(technicalID, "an-earlier-uid")})
			},
			want: "is left from an earlier shoot shoot--dev--one (uid an-earlier-uid)",
		},
		"a second resource with the shoot's own mark": {
			cause: func(o *observing) {
				o.plant("security-groups", fake.Attrs{"name": technicalID, "description": formatMark(technicalID, shootUID)})
			},
			want: "is marked as this shoot's own, but not in use: delete it",
		},
		"resources of a shoot that this seed does not have prove nothing": {
			cause:   func(o *observing) { o.plant("networks", fake.Attrs{"name": "elsewhere", "description": other}) },
			healthy: true, want: "they are orphans unless another seed has the shoot: shoot--dev--elsewhere (uid 11111111-2222-3333-4444-555555555555).",
		},
		"resources of another shoot of this seed": {
			cause: func(o *observing) {
				o.plant("networks", fake.Attrs{"name": "elsewhere", "description": other})
				o.here["shoot--dev--elsewhere"] = true
			},
			healthy: true,
		},
		"a name alone is no mark": {
			cause: func(o *observing) {
				o.plant("networks", fake.Attrs{"name": technicalID})
				o.plant("networks", fake.Attrs{"name": technicalID, "description": "Gardener shoot " + technicalID})
			},
			healthy: true,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newObserving(t)
			o.mustReconcile()
			tc.cause(o)
			finding := o.find(infrastructure.ObservationOrphans)
			assert.Equal(t, tc.healthy, finding.Healthy, finding.Message)
			assert.Contains(t, finding.Message, tc.want)
			if tc.want == "" {
				assert.NotContains(t, finding.Message, "elsewhere")
			}
		})
	}
}

// A shoot that is created or deleted while the cloud is read is not reported.
func TestObserver_OrphansDuringChanges(t *testing.T) {
	o := newObserving(t)
	o.mustReconcile()
	o.plant("networks", fake.Attrs{"description": formatMark("shoot--dev--new", "uid-of-new")})
	o.plant("networks", fake.Attrs{"description": formatMark("shoot--dev--old", "uid-of-old")})
	input := o.observerInput()
	answers := []map[string]bool{{technicalID: true, "shoot--dev--old": true}, {technicalID: true, "shoot--dev--new": true}}
	input.Namespaces = func(context.Context) (map[string]bool, error) {
		answer := answers[0]
		answers = answers[1:]
		return answer, nil
	}
	result, err := NewObserver(newReaders(nil), time.Hour).Observe(t.Context(), input)
	require.NoError(t, err)
	assert.NotContains(t, result.Findings[infrastructure.ObservationOrphans].Message, "shoot--dev--")
	assert.Empty(t, answers)
}

func TestObserver_Credentials(t *testing.T) {
	day := 24 * time.Hour
	password := func(after time.Duration) func(o *observing) {
		return func(o *observing) {
			require.NoError(o.t, o.cloud.SetPasswordExpiry(fake.DefaultUser, time.Now().Add(after)))
		}
	}
	application := func(after time.Duration) func(o *observing) {
		return func(o *observing) {
			if after != 0 {
				require.NoError(o.t, o.cloud.SetAppCredentialExpiry(fake.DefaultUser, fake.DefaultAppCredentialName, time.Now().Add(after)))
			}
			o.secret = map[string][]byte{
				"applicationCredentialID":     []byte(o.cloud.AppCredentialID(fake.DefaultUser, fake.DefaultAppCredentialName)),
				"applicationCredentialSecret": []byte(fake.DefaultAppCredentialSecret),
			}
		}
	}
	for sentence, tc := range map[string]struct {
		cause   func(o *observing)
		healthy bool
		want    string
	}{
		"a password that does not expire":                {func(*observing) {}, true, "they do not expire"},
		"a password that expires in a month":             {password(30 * day), true, "expires at "},
		"a password that expires in 13 days":             {password(13 * day), false, "expires at "},
		"an application credential without an end":       {application(0), true, "they do not expire"},
		"an application credential that ends in a month": {application(30 * day), true, "Application credential "},
		"an application credential that ends in 13 days": {application(13 * day), false, "create another one, and write it to the Secret"},
		"an end that Keystone does not tell": {
			func(o *observing) {
				application(day)(o)
				o.cloud.Inject(wire.Fault{Match: wire.Match{Path: "/v3/users/{id}/application_credentials/{id}"}, Times: -1, Status: http.StatusForbidden})
			}, true, "does not tell when they expire",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newObserving(t)
			o.mustReconcile()
			tc.cause(o)
			finding := o.find(infrastructure.ObservationCredentials)
			assert.Equal(t, tc.healthy, finding.Healthy, finding.Message)
			assert.Contains(t, finding.Message, tc.want)
		})
	}
}

func TestObserver_CredentialsRejected(t *testing.T) {
	for sentence, tc := range map[string]struct {
		cause func(o *observing)
		want  string
	}{
		"a changed password": {
			func(o *observing) { require.NoError(o.t, o.cloud.SetPassword(fake.DefaultUser, "another")) }, "Keystone does not accept the OpenStack credentials",
		},
		"a Secret that lacks a key": {func(o *observing) { delete(o.secret, "password") }, `"password" is missing`},
		"credentials of another project": {
			func(o *observing) { o.changeState(keyProject, "another") }, "the shoot lives in the OpenStack project another",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newObserving(t)
			o.mustReconcile()
			tc.cause(o)
			result, err := o.observe()
			require.Error(t, err, "nothing else can be observed")
			require.Len(t, result.Findings, 1)
			finding := result.Findings[infrastructure.ObservationCredentials]
			assert.False(t, finding.Healthy)
			assert.Contains(t, finding.Message, tc.want)
		})
	}
	t.Run("while a token is valid", func(t *testing.T) {
		o := newObserving(t)
		o.mustReconcile()
		observing := NewObserver(newReaders(nil), time.Nanosecond)
		_, err := observing.Observe(t.Context(), o.observerInput())
		require.NoError(t, err)
		require.NoError(t, o.cloud.SetPassword(fake.DefaultUser, "another")) // Keystone revokes the tokens
		result, err := observing.Observe(t.Context(), o.observerInput())
		require.NoError(t, err)
		assert.Contains(t, result.Findings[infrastructure.ObservationCredentials].Message, "Keystone does not accept the OpenStack credentials")
		assert.Error(t, result.Findings[infrastructure.ObservationDrift].Err)
	})
}

// A cloud that fails is not unhealthy: nothing is known.
func TestObserver_CloudFails(t *testing.T) {
	t.Run("Keystone", func(t *testing.T) {
		o := newObserving(t)
		o.mustReconcile()
		o.cloud.Inject(wire.Fault{Match: wire.Match{Service: services.Keystone}, Times: -1, Status: http.StatusServiceUnavailable})
		result, err := o.observe()
		require.Error(t, err)
		assert.Empty(t, result.Findings)
	})
	t.Run("Nova", func(t *testing.T) {
		o := newObserving(t)
		o.mustReconcile()
		o.cloud.Inject(wire.Fault{Match: wire.Match{Service: services.Nova}, Times: -1, Status: http.StatusServiceUnavailable})
		result, err := o.observe()
		require.NoError(t, err)
		for name, failed := range map[string]bool{
			infrastructure.ObservationDrift: true, infrastructure.ObservationQuota: true, infrastructure.ObservationDeletionBlockers: true,
			infrastructure.ObservationOrphans: false, infrastructure.ObservationCredentials: false,
		} {
			finding := result.Findings[name]
			assert.Equal(t, failed, finding.Err != nil, "%s: %v", name, finding.Err)
			assert.Equal(t, !failed, finding.Healthy, name)
		}
	})
}

func TestObserver_OptionalServices(t *testing.T) {
	o := newObserving(t, fake.WithoutServices(services.Octavia, services.Manila, services.Cinder))
	o.mustReconcile()
	result, err := o.observe()
	require.NoError(t, err)
	for name, finding := range result.Findings {
		assert.NoError(t, finding.Err, name)
		assert.True(t, finding.Healthy, finding.Message)
	}
}

// Twenty shoots of one account cost one wave of reads in an interval: one request for each kind of resource.
func TestObserver_OneWaveForAnAccount(t *testing.T) {
	o := newObserving(t)
	var inputs []*infrastructure.ObserverInput
	for i := range 20 {
		o.forgetShoot()
		o.config.Networks.Workers = fmt.Sprintf("10.250.%d.0/24", i)
		one := o.input()
		one.TechnicalID, one.UID = fmt.Sprintf("shoot--dev--%d", i), fmt.Sprintf("uid-of-number-%d", i)
		recorder := &savingRecorder{env: o.environment}
		outcome, err := o.driver.Reconcile(t.Context(), one, recorder)
		require.NoError(t, err)
		recorder.RecordState(outcome.State)
		one.Infrastructure.Status.State = o.infra.Status.State
		one.Infrastructure.Status.ProviderStatus = o.marshal(outcome.ProviderStatus)
		o.here[one.TechnicalID] = true
		input := o.observerInput()
		input.Shoot = one
		inputs = append(inputs, input)
	}
	o.takeCalls()
	observing := NewObserver(newReaders(nil), time.Hour)
	for range 3 {
		for _, input := range inputs {
			result, err := observing.Observe(t.Context(), input)
			require.NoError(t, err)
			for name, finding := range result.Findings {
				require.NoError(t, finding.Err, name)
				assert.True(t, finding.Healthy, "%s of %s: %s", name, input.TechnicalID, finding.Message)
			}
		}
	}
	calls := o.takeCalls()
	t.Log(calls.Summary())
	assert.Equal(t, 1, calls.Logins())
	for name, count := range calls.Count() {
		assert.Equal(t, 1, count, name)
	}
	assert.LessOrEqual(t, len(calls), 16, "a login and one list of each kind")
}

func TestObserver_OnlyWhatIsWanted(t *testing.T) {
	o := newObserving(t)
	o.mustReconcile()
	input := o.observerInput()
	input.Wanted = observer.Names{infrastructure.ObservationCredentials: true}
	o.takeCalls()
	result, err := NewObserver(newReaders(nil), time.Hour).Observe(t.Context(), input)
	require.NoError(t, err)
	assert.Len(t, result.Findings, 1)
	assert.Len(t, o.takeCalls(), 2, "a login, and one read that shows that it is valid")
}

func TestObserver_WaitsForReadsAfterSuccess(t *testing.T) {
	o := newObserving(t)
	o.mustReconcile()
	observing := NewObserver(newReaders(nil), time.Hour)
	first, err := observing.Observe(t.Context(), o.observerInput())
	require.NoError(t, err)
	later := o.observerInput()
	later.Since = first.AsOf.Add(time.Second)
	_, err = observing.Observe(t.Context(), later)
	var tooEarly *observer.TooEarlyError
	require.ErrorAs(t, err, &tooEarly)
	assert.Equal(t, first.AsOf.Add(time.Hour), tooEarly.RetryAt)
}
