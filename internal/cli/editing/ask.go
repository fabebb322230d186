package editing

import (
	"moon/internal/app"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/inventory"
	"moon/plan/playbook"
	"moon/plan/source"
)

// PlanOptions are those with which a playbook is planned without starting a program, asking a host or trusting anything.
func (c *Server) PlanOptions(call *app.Invocation, path string) (plan.Options, error) {
	p, err := c.newPlanning(call)
	if err != nil {
		return plan.Options{}, err
	}
	return p.options(path)
}

// ReadInventory reads the inventory that a playbook would be planned with, without what programs and encrypted files would add.
func (c *Server) ReadInventory(call *app.Invocation, path string) (*inventory.Inventory, error) {
	o, err := c.PlanOptions(call, path)
	if err != nil {
		return nil, err
	}
	disk := source.NewDisk(nil)
	var ds diag.List
	return inventory.Load(o.Hosts.Inventory, o.Dir, inventory.Files{
		Read: func(path string) (*playbook.File, error) {
			seen, err := disk.Read(path)
			if err != nil {
				return nil, err
			}
			return &playbook.File{Name: path, Path: path, Text: seen.Text}, nil
		},
		List: disk.List, Kind: disk.Kind,
	}, &ds), nil
}
