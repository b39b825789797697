package state

import (
	"maps"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

// Relation says whether an operator serves a ControllerDeployment.
type Relation int

// The relations.
const (
	OtherType Relation = iota // of another type
	NotFound                  // it does not exist
	Ours
)

// Deployment is what is known of a ControllerDeployment. It must not be changed once it is published.
type Deployment struct {
	// Relation tells whether the deployment is the operator's. Unless it is Ours, no other field is set.
	Relation Relation
	// Config is the deployment's configuration, with defaults and without the chart; nil if it is invalid.
	Config *installationv1alpha1.ControllerDeploymentConfig
	// Problem is the problem of the deployment's content, nil if it is valid.
	Problem *problem.Problem
	// Waiting is a transient error that prevents the operator from reading the deployment's content.
	Waiting error
	// Note is a sentence about a newer revision that installations do not get, empty without one.
	Note string
	// Trial is the name of the newest revision while it is a candidate, empty otherwise.
	Trial string
	// EmptyWaves are the waves that select no installation.
	EmptyWaves []string
	// Waves is the wave of each installation, by the name of the installation.
	Waves map[string]string
}

// Deployment returns the state that was published last, and whether any was.
func (s *Store) Deployment(name string) (Deployment, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	deployment, found := s.deployments[name]
	return deployment, found
}

// OwnDeployments returns the names of the deployments with the relation Ours, in no order.
func (s *Store) OwnDeployments() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var names []string
	for name, deployment := range s.deployments {
		if deployment.Relation == Ours {
			names = append(names, name)
		}
	}
	return names
}

// PublishDeployment stores the state of a deployment, and requeues its installations if it tells them anything new.
func (s *Store) PublishDeployment(name string, deployment Deployment, installations []string) {
	s.mutex.Lock()
	before, found := s.deployments[name]
	s.deployments[name] = deployment
	s.mutex.Unlock()
	if found && before.equalForInstallations(deployment) {
		return
	}
	for _, installation := range installations {
		s.changedInstallations.add(installation)
	}
}

func (d Deployment) equalForInstallations(other Deployment) bool {
	return d.Relation == other.Relation && d.Note == other.Note && problem.Equal(d.Problem, other.Problem) &&
		(d.Waiting == nil) == (other.Waiting == nil) && maps.Equal(d.Waves, other.Waves)
}
