package ec2

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

// refusingHidden makes an action that changes something fail while a resource that it names is not visible yet.
func (s *Service) refusingHidden(name string, action core.Action) core.Action {
	if core.IsRead(name) {
		return action
	}
	do := action.Do
	action.Do = func(q *core.Request) (protocol.Struct, error) {
		if err := s.checkVisible(q); err != nil {
			return nil, err
		}
		return do(q)
	}
	return action
}

// checkVisible returns the error of the first kind of which a request names a resource that is not visible yet.
func (s *Service) checkVisible(q *core.Request) error {
	if s.core.Config.Lag.For == 0 || q.Operator {
		return nil
	}
	named := textsIn(q.In)
	for _, kind := range s.tagged {
		for _, m := range kind.all() {
			if m.isHidden(q) && slices.Contains(named, m.id) {
				return kind.notFound(m.id)
			}
		}
	}
	return nil
}

// textsIn returns all texts in an input.
func textsIn(value any) []string {
	var all []string
	switch value := value.(type) {
	case string:
		all = append(all, value)
	case protocol.Struct:
		for _, one := range value {
			all = append(all, textsIn(one)...)
		}
	case []any:
		for _, one := range value {
			all = append(all, textsIn(one)...)
		}
	}
	return all
}
