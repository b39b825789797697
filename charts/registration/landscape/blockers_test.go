package landscape_test

import (
	"strings"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/charts/registration/landscape"
)

// another adds a registration of which nothing is asked for, with its deployment and with installations of it.
func another(policy gardencorev1beta1.ControllerDeploymentPolicy, installations ...gardencorev1beta1.ControllerInstallation) func(*landscape.Garden) {
	return func(g *landscape.Garden) {
		r := deployed(registers("another", "Network/none"))
		r.Spec.Deployment.Policy = &policy
		g.Registrations = append(g.Registrations, r)
		g.Deployments = append(g.Deployments, gardencorev1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: "another"}})
		g.Installations = append(g.Installations, installations...)
	}
}

func required(i gardencorev1beta1.ControllerInstallation) gardencorev1beta1.ControllerInstallation {
	i.Status.Conditions = append(i.Status.Conditions, gardencorev1beta1.Condition{
		Type: gardencorev1beta1.ControllerInstallationRequired, Status: gardencorev1beta1.ConditionTrue,
	})
	return i
}

// Things that go wrong with the registration that another has added last.
func withoutDeployment(g *landscape.Garden) { g.Deployments = g.Deployments[:len(g.Deployments)-1] }

func installationGoes(g *landscape.Garden) {
	g.Installations[len(g.Installations)-1].DeletionTimestamp = new(metav1.Now())
}

func refersTo(references ...landscape.Reference) func(*landscape.Garden) {
	return func(g *landscape.Garden) {
		for _, reference := range references {
			d := &g.Deployments[len(g.Deployments)-1]
			d.Resources = append(d.Resources, gardencorev1.NamedResourceReference{
				Name: reference.Name, ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: reference.Kind, Name: reference.Name},
			})
		}
	}
}

func registrationGoes(g *landscape.Garden) {
	g.Registrations[len(g.Registrations)-1].DeletionTimestamp = new(metav1.Now())
}

func forOtherSeeds(g *landscape.Garden) {
	g.Registrations[len(g.Registrations)-1].Spec.Deployment.SeedSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"stage": "canary"}}
}

func withoutShoots(g *landscape.Garden) { g.Shoots = nil }

func seedGoes(g *landscape.Garden) { g.Seeds[0].DeletionTimestamp = new(metav1.Now()) }

// itsOwnShoot makes the seed a shoot that is its own.
func itsOwnShoot(g *landscape.Garden) {
	g.Seeds[0].Labels = map[string]string{v1beta1constants.LabelSelfHostedShootCluster: "true"}
	g.Shoots = append(g.Shoots, shoot(selfHosted))
}

// Gardener gives up on a seed for one registration, whether or not anybody asks for its kinds and types.
func TestInspect_BlockedSeed(t *testing.T) {
	const (
		always    = gardencorev1beta1.ControllerDeploymentPolicyAlways
		ifShoots  = gardencorev1beta1.ControllerDeploymentPolicyAlwaysExceptNoShoots
		onDemand  = gardencorev1beta1.ControllerDeploymentPolicyOnDemand
		noChart   = "registration another refers to ControllerDeployment another, which is not there: until it is, Gardener installs, updates and removes nothing on this seed"
		goes      = "another is wanted, and its installation another-x2k4p is still being deleted: until it is gone, Gardener installs, updates and removes nothing on this seed"
		noSecret  = "the ControllerDeployment of another refers to Secret garden/cat, which is not there: until it is, Gardener installs"
		noConfig  = "the ControllerDeployment of another refers to ConfigMap garden/cat, which is not there: until it is, Gardener installs"
		notLooked = "Secret garden/cat, which the ControllerDeployment of another refers to: unknown. Without it Gardener installs, updates and removes nothing on this seed"
	)
	secret, config := landscape.Reference{Kind: "Secret", Name: "cat"}, landscape.Reference{Kind: "ConfigMap", Name: "cat"}
	there, wanted := installed("another", "TTF"), required(installed("another", "TTF"))
	for sentence, c := range map[string]struct {
		change     []func(*landscape.Garden)
		references map[landscape.Reference]bool
		problems   []string
		notes      []string
	}{
		"a policy for all seeds":                             {change: []func(*landscape.Garden){another(always), withoutDeployment}, problems: []string{noChart}},
		"a policy for all seeds, and it is installed":        {change: []func(*landscape.Garden){another(always, there), withoutDeployment}, problems: []string{noChart}},
		"a policy for all seeds, and this one goes":          {change: []func(*landscape.Garden){another(always), withoutDeployment, seedGoes}},
		"a policy for seeds with shoots":                     {change: []func(*landscape.Garden){another(ifShoots), withoutDeployment}, problems: []string{noChart}},
		"a policy for seeds with shoots, and there are none": {change: []func(*landscape.Garden){another(ifShoots), withoutDeployment, withoutShoots}},
		"wanted by nothing":                                  {change: []func(*landscape.Garden){another(onDemand), withoutDeployment}},
		"wanted by nothing, but installed":                   {change: []func(*landscape.Garden){another(onDemand, there), withoutDeployment}},
		"installed, and its objects are still there":         {change: []func(*landscape.Garden){another(onDemand, wanted), withoutDeployment}, problems: []string{noChart}},
		"a selector of other seeds":                          {change: []func(*landscape.Garden){another(always), withoutDeployment, forOtherSeeds}},
		"a registration that goes":                           {change: []func(*landscape.Garden){another(always), withoutDeployment, registrationGoes}},
		"a registration that goes, with objects still there": {change: []func(*landscape.Garden){another(always, wanted), withoutDeployment, registrationGoes}},
		"a seed that is a shoot of its own":                  {change: []func(*landscape.Garden){another(always, wanted), withoutDeployment, itsOwnShoot}},

		"an installation that goes and is to be there": {change: []func(*landscape.Garden){another(always, there), installationGoes}, problems: []string{goes}},
		"an installation that goes and is not needed":  {change: []func(*landscape.Garden){another(onDemand, there), installationGoes}},

		"a Secret that is there": {
			change: []func(*landscape.Garden){another(always), refersTo(secret)}, references: map[landscape.Reference]bool{secret: true},
		},
		"a Secret that is not there": {
			change:     []func(*landscape.Garden){another(always), refersTo(secret, config)},
			references: map[landscape.Reference]bool{secret: false, config: true}, problems: []string{noSecret},
		},
		"a ConfigMap that is not there": {
			change:     []func(*landscape.Garden){another(always), refersTo(secret, config)},
			references: map[landscape.Reference]bool{secret: true, config: false}, problems: []string{noConfig},
		},
		"a Secret that nobody may look at":     {change: []func(*landscape.Garden){another(always), refersTo(secret)}, notes: []string{notLooked}},
		"a Secret that is named several times": {change: []func(*landscape.Garden){another(always), refersTo(secret, secret)}, notes: []string{notLooked}},
		"a Secret of what nothing wants":       {change: []func(*landscape.Garden){another(onDemand), refersTo(secret)}},
	} {
		t.Run(sentence, func(t *testing.T) {
			g := served(c.change...)
			g.References = c.references
			report, err := landscape.Inspect(g)
			require.NoError(t, err)
			assert.Equal(t, len(c.problems) == 0, report.OK())
			assertPrefixes(t, c.problems, report.Seeds[0].Problems)
			assertPrefixes(t, c.notes, withoutUnrelated(report.Seeds[0].Notes))
		})
	}
}

// withoutUnrelated leaves out what is said of installations that nothing needs.
func withoutUnrelated(notes []string) []string {
	var left []string
	for _, note := range notes {
		if !strings.HasPrefix(note, "also installed") {
			left = append(left, note)
		}
	}
	return left
}

func assertPrefixes(t *testing.T, want, got []string) {
	t.Helper()
	require.Len(t, got, len(want), strings.Join(got, "\n"))
	for i := range want {
		assert.True(t, strings.HasPrefix(got[i], want[i]), "%q", got[i])
	}
}
