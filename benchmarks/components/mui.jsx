import * as React from "react";
import { createRoot } from "react-dom/client";
import { Accordion, AccordionDetails, AccordionSummary, Alert, AppBar, Autocomplete, Button, Checkbox, Chip, FormControlLabel, IconButton, List, ListItemButton, ListItemText, MenuItem, Radio, RadioGroup, Rating, Slider, Stepper, Step, StepLabel, Switch, Tab, Table, TableBody, TableCell, TableHead, TablePagination, TableRow, Tabs, TextField, Toolbar, Typography } from "@mui/material";

const rows = Array.from({ length: 10 }, (_, at) => ({ name: `Part ${at}`, price: at * 3 + 1, stock: 100 - at }));
function App() {
  return <>
    <AppBar position="static"><Toolbar><IconButton aria-label="menu">☰</IconButton><Typography variant="h6">Stock</Typography><Button color="inherit">Sign in</Button></Toolbar></AppBar>
    <Alert severity="info" onClose={() => {}}>Prices are without tax</Alert>
    <Stepper activeStep={1}>{["Search", "Choose", "Pay"].map((label) => <Step key={label}><StepLabel>{label}</StepLabel></Step>)}</Stepper>
    <TextField label="Part" helperText="Name or number" required />
    <TextField label="Amount" type="number" defaultValue={3} />
    <TextField label="Unit" select defaultValue="kg">{["kg", "piece", "box"].map((unit) => <MenuItem key={unit} value={unit}>{unit}</MenuItem>)}</TextField>
    <Autocomplete options={["Rome", "Oslo", "Lima"]} renderInput={(params) => <TextField {...params} label="Store" />} />
    <RadioGroup defaultValue="a" aria-label="Quality"><FormControlLabel value="a" control={<Radio />} label="First" /><FormControlLabel value="b" control={<Radio />} label="Second" /></RadioGroup>
    <FormControlLabel control={<Checkbox defaultChecked />} label="In stock only" /><FormControlLabel control={<Switch />} label="With pictures" />
    <Slider aria-label="Price" defaultValue={30} /><Rating name="stars" defaultValue={2} />
    <Chip label="new" onDelete={() => {}} /><Button variant="contained">Search</Button><Button disabled>Order</Button>
    <Tabs value={0}><Tab label="Table" /><Tab label="List" /></Tabs>
    <Table><TableHead><TableRow>{["Name", "Price", "Stock"].map((title) => <TableCell key={title}>{title}</TableCell>)}</TableRow></TableHead>
      <TableBody>{rows.map((row) => <TableRow key={row.name} hover><TableCell>{row.name}</TableCell><TableCell>{row.price}</TableCell><TableCell>{row.stock}</TableCell></TableRow>)}</TableBody></Table>
    <TablePagination component="div" count={100} page={2} rowsPerPage={10} onPageChange={() => {}} />
    <List>{["Inbox", "Sent", "Drafts"].map((text) => <ListItemButton key={text}><ListItemText primary={text} secondary={`All of ${text}`} /></ListItemButton>)}</List>
    <Accordion><AccordionSummary>Shipping</AccordionSummary><AccordionDetails>Two days.</AccordionDetails></Accordion>
  </>;
}
createRoot(document.getElementById("root")).render(<App />);
