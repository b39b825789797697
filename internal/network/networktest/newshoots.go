package networktest

import (
	"slices"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// newShoots caches the content of new shoots of a subject's configurations. It creates a shoot at the first call.
type newShoots struct {
	server  *contracttest.APIServer
	subject Subject

	mutex sync.Mutex
	known map[string]*sync.Once
	found map[string]*content
}

func newShootsOf(server *contracttest.APIServer, subject Subject) *newShoots {
	n := &newShoots{server: server, subject: subject, known: map[string]*sync.Once{}, found: map[string]*content{}}
	for _, configuration := range slices.Concat(subject.Configurations, subject.ExtraConfigurations) {
		n.known[configuration.Name] = &sync.Once{}
	}
	return n
}

// get returns what a new shoot of a configuration consists of.
func (n *newShoots) get(t T, configuration Configuration) *content {
	t.Helper()
	n.known[configuration.Name].Do(func() {
		s := newHarnessWithNodes(t, n.server, n.subject, false).Start()
		s.Create(configuration)
		found, state := s.content()
		require.Nil(t, state.Stage, "a new shoot has no node that could have to catch up")
		s.Stop()
		n.mutex.Lock()
		defer n.mutex.Unlock()
		n.found[configuration.Name] = found
	})
	n.mutex.Lock()
	defer n.mutex.Unlock()
	require.NotNil(t, n.found[configuration.Name], "no new shoot of configuration %q could be made", configuration.Name)
	return n.found[configuration.Name]
}
