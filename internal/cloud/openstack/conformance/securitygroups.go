package conformance

func securityGroups() []Behaviour {
	return []Behaviour{}
}
