package conformance

func serverGroups() []Behaviour {
	return []Behaviour{}
}
