package conformance

func servers() []Behaviour {
	return []Behaviour{}
}
