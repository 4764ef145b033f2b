"""The web app where people judge, and its store. Holds no statistics: what it shows of them is handed in."""
