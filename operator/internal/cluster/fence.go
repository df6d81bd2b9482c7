package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// A server that a person has fenced is kept out: it is neither elected, nor given a role, nor counted, nor changed. What its log holds
// still counts. A server promises an epoch only to leave an older one, so one that takes part is fenced by an epoch of its own, in
// which the others get their roles again and it does not.

// FencedOf reads the servers that are fenced by hand out of a cluster's annotation.
func FencedOf(c *v1alpha1.CommitCluster) (map[string]bool, error) {
	text := c.Annotations[v1alpha1.AnnotationFenced]
	if text == "" {
		return nil, nil
	}
	var names []string
	if err := json.Unmarshal([]byte(text), &names); err != nil {
		return nil, err
	}
	fenced := map[string]bool{}
	for _, name := range names {
		fenced[name] = true
	}
	return fenced, nil
}

// describeAnnotations says what of people's requests cannot be understood.
func (v *View) describeAnnotations(p *Plan) {
	if v.KeptOutProblem != nil {
		p.Report("", fmt.Sprintf(`the annotation %s cannot be read, and nobody is fenced by it: %s. Write ["NAME-1"], or use 'kubectl commitlab fence'`,
			v1alpha1.AnnotationFenced, v.KeptOutProblem))
	}
	if v.PromotionProblem != nil {
		p.Report("", fmt.Sprintf("the promotion that the annotation %s asks for cannot be read: %s. Use 'kubectl commitlab promote'",
			v1alpha1.AnnotationPromote, v.PromotionProblem))
	}
}

// keptOut: a person has fenced the server. The first bootstrap needs everybody.
func (v *View) keptOut(s *Server) bool { return v.KeptOut[s.Name] && !v.bootstrapping() }

// toBeFenced is a server that is to be kept out and takes part; empty when there is none.
func (v *View) toBeFenced(master *Server) string {
	if v.KeptOut[v.Record.Master] {
		return v.Record.Master
	}
	for i := range v.Servers {
		if s := &v.Servers[i]; v.keptOut(s) && !v.isOut(s, master) {
			return s.Name
		}
	}
	return ""
}

// isOut: the server neither follows the master on record nor is seen to acknowledge to it.
func (v *View) isOut(s, master *Server) bool {
	attached := v.servesAsMaster(master) && v.takesPart(s, master)
	return !attached && !v.follows(s) && !v.servesAsMaster(s)
}

// isFencedByHand: a person wants the server out, and it is.
func (v *View) isFencedByHand(name string) bool {
	s := v.server(name)
	switch {
	case s == nil || !v.keptOut(s):
		return false
	case v.Record.Election != nil:
		return v.isMember(s) && s.Status.Role == engine.RoleFenced && s.Status.Epoch == v.Record.Epoch
	}
	return v.isOut(s, v.server(v.Record.Master))
}

// keepFenced sends FENCE to one that still has its role in an epoch that is over.
func (v *View) keepFenced(p *Plan, s *Server) {
	if v.isMember(s) && s.Status.Epoch < v.Record.Epoch && (s.Status.Role == engine.RoleReplica || s.Status.Role == engine.RoleMaster) {
		p.Commands = append(p.Commands, Command{Kind: CommandFence, Server: s.Name, Epoch: v.Record.Epoch})
	}
}

// choose elects among the fenced servers. Those that are kept out by hand do not win; where the others alone do not cover the record,
// whoever wins must hold all that these hold as well.
func (v *View) choose(fenced []*Server) (*Server, error) {
	able := slices.DeleteFunc(slices.Clone(fenced), func(s *Server) bool { return v.keptOut(s) && !mutated(keptOutIsElected) })
	if len(able) == len(fenced) {
		return best(fenced, v.Record.Master)
	}
	if len(able) == 0 {
		return nil, errors.New("every server that could be elected is fenced by hand. Unfence one of them")
	}
	winner, err := best(able, v.Record.Master)
	if err != nil || coversRecord(uuids(able), &v.Record) || mutated(keptOutLogIgnored) {
		return winner, err
	}
	most, err := best(fenced, winner.Name)
	if err != nil {
		return nil, err
	}
	if order, err := compareLogs(winner, most); err == nil && order >= 0 && winner.Status.LastLogEpoch == most.Status.LastLogEpoch {
		return winner, nil
	}
	return nil, fmt.Errorf("nobody is elected: %s is fenced by hand, and may hold what was acknowledged and nobody else has. Unfence it, or bring back others", most.Name)
}
