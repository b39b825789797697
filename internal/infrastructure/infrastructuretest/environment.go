package infrastructuretest

import (
	"encoding/json"
	"fmt"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// shootIdentity differs in its technical ID from every namespace: a driver that takes the one for the other is found out.
func shootIdentity() Identity {
	return Identity{TechnicalID: "shoot--suite--one", UID: "5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11"}
}

func newInfrastructure() *extensionsv1alpha1.Infrastructure {
	return &extensionsv1alpha1.Infrastructure{}
}

// environment is one cloud and the shoot in it.
type environment struct {
	subject  Subject
	cloud    Cloud
	before   []Resource
	expected *expectation
}

var _ contracttest.Environment[*extensionsv1alpha1.Infrastructure] = (*environment)(nil)

func newEnvironment(subject Subject, expected *expectation) (*environment, error) {
	cloud, err := subject.NewCloud(shootIdentity())
	if err != nil {
		return nil, fmt.Errorf("making a cloud: %w", err)
	}
	before, err := cloud.Resources()
	if err != nil {
		return nil, fmt.Errorf("listing what is in the new cloud: %w", err)
	}
	return &environment{subject: subject, cloud: cloud, before: before, expected: expected}, nil
}

// Objects implements contracttest.Environment.
func (env *environment) Objects(namespace string) ([]client.Object, *extensionsv1alpha1.Infrastructure, error) {
	inputs := env.cloud.Inputs()
	config, err := encode(inputs.InfrastructureConfig)
	if err != nil {
		return nil, nil, err
	}
	profile, err := encode(inputs.CloudProfileConfig)
	if err != nil {
		return nil, nil, err
	}
	fixture := contracttest.Fixture{
		ProviderType:         env.subject.Type,
		TechnicalID:          shootIdentity().TechnicalID,
		UID:                  types.UID(shootIdentity().UID),
		InfrastructureConfig: config,
		CloudProfileConfig:   profile,
		Credentials:          inputs.Credentials,
	}
	cluster, err := fixture.Cluster(namespace)
	if err != nil {
		return nil, nil, err
	}
	object := newInfrastructure()
	object.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: fixture.Shoot().Name}
	object.Spec = extensionsv1alpha1.InfrastructureSpec{
		DefaultSpec:  extensionsv1alpha1.DefaultSpec{Type: env.subject.Type, ProviderConfig: config},
		Region:       contracttest.Region,
		SecretRef:    corev1.SecretReference{Namespace: namespace, Name: v1beta1constants.SecretNameCloudProvider},
		SSHPublicKey: inputs.SSHPublicKey,
	}
	return []client.Object{cluster, fixture.Secret(namespace)}, object, nil
}

// Program implements contracttest.Environment.
func (env *environment) Program(mgr manager.Manager, cloud contracttest.Transport) error {
	if err := infrastructure.AddToScheme(mgr.GetScheme()); err != nil {
		return err
	}
	driver, err := env.cloud.NewDriver(cloud)
	if err != nil {
		return fmt.Errorf("building the driver: %w", err)
	}
	return infrastructure.Add(mgr, map[string]infrastructure.Driver{env.subject.Type: driver}, contract.Options{
		Types:      []string{env.subject.Type},
		Retry:      contract.Retry{Base: 5 * time.Millisecond, Max: 100 * time.Millisecond},
		Registerer: prometheus.NewRegistry(),
	})
}

// Inspect implements contracttest.Environment.
func (env *environment) Inspect(ready bool) []string {
	own, violations := env.ownResources()
	if ready {
		return append(violations, env.expected.check(own)...)
	}
	for _, resource := range own {
		violations = append(violations, fmt.Sprintf("left behind: %s", signatureOf(resource)))
	}
	return violations
}

// ownResources returns the shoot's resources, and what is wrong with those of others.
func (env *environment) ownResources() (resources []Resource, violations []string) {
	now, err := env.cloud.Resources()
	if err != nil {
		return nil, []string{fmt.Sprintf("the cloud cannot be listed: %s", err)}
	}
	return splitByOwner(env.before, now)
}

// Close implements contracttest.Environment.
func (env *environment) Close() error { return env.cloud.Close() }

func encode(config runtime.Object) (*runtime.RawExtension, error) {
	raw, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", config, err)
	}
	return &runtime.RawExtension{Raw: raw}, nil
}
