package conformance

func securityGroupRules() []Behaviour {
	return []Behaviour{}
}
